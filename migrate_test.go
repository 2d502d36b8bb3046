package steadfast_test

import (
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// toCome marks a row of docs/migrate.md whose symbols no release has yet.
const toCome = "to come"

// TestMigrate: docs/migrate.md names only what is there, marks what is not, and leaves out nothing that a handler of a persistent
// agent uses.
func TestMigrate(t *testing.T) {
	quoted := regexp.MustCompile("`([^`]+)`")
	rows := 0
	left := map[string]bool{}
	for _, line := range strings.Split(read(t, "docs/migrate.md"), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
			left[m[1]] = true
		}
		symbols := quoted.FindAllStringSubmatch(cells[1], -1)
		if len(symbols) == 0 && strings.TrimSpace(cells[1]) != "-" {
			t.Errorf("no symbol and no dash: %s", line)
		}
		for _, m := range symbols {
			switch there, marked := declared(t, m[1]), strings.Contains(cells[2], toCome); {
			case !there && !marked:
				t.Errorf("%s does not exist", m[1])
			case there && marked:
				t.Errorf("%s exists: %q goes, or the row is to be divided", m[1], toCome)
			}
		}
	}
	if rows < 80 {
		t.Errorf("only %d rows were found", rows)
	}
	for _, member := range strings.Fields("agentId persona kind request payload now agenda agendaLines commitments commitment promise " +
		"advanceCommitment followUp dueCommitments redispatch taskId") {
		if !left["ctx."+member] {
			t.Errorf("ctx.%s is not mapped", member)
		}
	}
}

// declared reports whether a package of core, or agency, declares a symbol: a name, or a field or method of a type.
func declared(t *testing.T, symbol string) bool {
	t.Helper()
	path := strings.Split(symbol, ".")
	dir := "core/" + path[0]
	if path[0] == "agency" {
		dir = "agency"
	}
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(path) < 2 {
		t.Fatalf("%s: %v", symbol, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		_, file := parse(t, name)
		for _, d := range file.Decls {
			if slices.Contains(names(d), strings.Join(path[1:], ".")) {
				return true
			}
		}
	}
	return false
}

// names are what a declaration declares: X, and X.Y for a field or method Y of X.
func names(d ast.Decl) (list []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		return []string{base(d.Recv.List[0].Type) + "." + d.Name.Name}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return nil
		}
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					list = append(list, n.Name)
				}
			case *ast.TypeSpec:
				list = append(list, s.Name.Name)
				list = append(list, members(s)...)
			}
		}
	}
	return list
}

func members(s *ast.TypeSpec) (list []string) {
	var fields *ast.FieldList
	switch body := s.Type.(type) {
	case *ast.StructType:
		fields = body.Fields
	case *ast.InterfaceType:
		fields = body.Methods
	default:
		return nil
	}
	for _, f := range fields.List {
		for _, n := range f.Names {
			list = append(list, s.Name.Name+"."+n.Name)
		}
	}
	return list
}

// base is the name of a receiver's type.
func base(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return base(x.X)
	case *ast.IndexExpr:
		return base(x.X)
	case *ast.IndexListExpr:
		return base(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// TestProgramsOfTheGuides: a program that a guide shows whole compiles as it stands.
func TestProgramsOfTheGuides(t *testing.T) {
	block := regexp.MustCompile("(?s)```go\n(package main\n.*?)```")
	found := 0
	for _, guide := range append(glob(t, "docs/*.md"), "README.md") {
		for _, m := range block.FindAllStringSubmatch(read(t, guide), -1) {
			found++
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", "vet", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", guide, err, out)
			}
		}
	}
	if found < 2 {
		t.Errorf("only %d programs were found", found)
	}
}
