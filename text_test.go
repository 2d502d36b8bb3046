package steadfast_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// files gives every file of the project, without what was built or downloaded.
func files(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bin" || slices.Contains([]string{".git", ".aws-sam", ".steadfast", "node_modules"}, d.Name())):
			return fs.SkipDir
		case !d.IsDir():
			all = append(all, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFilesAndPackages(t *testing.T) {
	banned := []string{"util", "utils", "common", "helper", "helpers", "types", "models", "shared", "misc"}
	for _, file := range files(t) {
		if path.Ext(file) != ".go" {
			continue
		}
		if n := lines(t, file); n > 400 && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s has %d lines: past 400 a file asks to be two", file, n)
		}
		if _, parsed := parse(t, file); slices.Contains(banned, parsed.Name.Name) || slices.Contains(banned, path.Base(path.Dir(file))) {
			t.Errorf("%s: a package is named after what it is for, not %s", file, parsed.Name.Name)
		}
	}
}

// TestWords: the text of the project speaks of the project.
func TestWords(t *testing.T) {
	banned := regexp.MustCompile(`TODO|FIXME|/work/|\.\./shared|(?i)\bissues? #?\d`)
	text := []string{".go", ".md", ".yaml", ".toml", ".json", ""}
	for _, file := range files(t) {
		if !slices.Contains(text, path.Ext(file)) || file == "text_test.go" || strings.Contains(file, "/testdata/") { // testdata is what others say
			continue
		}
		for i, line := range strings.Split(read(t, file), "\n") {
			if found := banned.FindString(line); found != "" {
				t.Errorf("%s:%d: %q", file, i+1, found)
			}
		}
	}
}

// TestLinksOfTheDocuments: what a document points to within the project is there.
func TestLinksOfTheDocuments(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	all := files(t)
	for _, file := range all {
		if path.Ext(file) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(read(t, file), -1) {
			to := path.Join(path.Dir(file), m[1])
			if !slices.ContainsFunc(all, func(f string) bool { return f == to || strings.HasPrefix(f, to+"/") }) {
				t.Errorf("%s points to %s, which is not there", file, to)
			}
		}
	}
}

// TestReadmeNamesEveryFunction, with what wakes it if that is a route.
func TestReadmeNamesEveryFunction(t *testing.T) {
	readme, stack := read(t, "README.md"), template(t)
	for _, f := range stack.Functions {
		if !strings.Contains(readme, "\n| `"+f.Name+"` | ") {
			t.Errorf("the README's table lacks %s", f.Name)
		}
	}
	for _, r := range stack.HTTP.Routes {
		if !strings.Contains(readme, "| `"+r.Function+"` | `"+r.Method+" "+r.Path+"` |") {
			t.Errorf("the README's table lacks %s %s of %s", r.Method, r.Path, r.Function)
		}
	}
}

// TestArchitectureNamesEveryPackage of the core and each tree beside it.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text := read(t, "docs/architecture.md")
	for _, p := range packages(t) {
		tree := p.short()
		if parts := strings.Split(tree, "/"); parts[0] == "internal" || parts[0] == "agent" {
			tree = strings.Join(parts[:min(2, len(parts))], "/")
		} else if parts[0] != "core" {
			continue
		}
		if !strings.Contains(text, "`"+tree+"`") {
			t.Errorf("docs/architecture.md does not name %s", tree)
		}
	}
}

// TestExportedNamesAreDocumented in the packages that a user of the library reads.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.short(), "core/") && p.short() != "agency" && p.short() != "agent" {
			continue
		}
		documented := false
		for _, name := range p.GoFiles {
			fset, file := parse(t, filepath.Join(p.Dir, name))
			documented = documented || strings.HasPrefix(file.Doc.Text(), "Package "+p.Name+" ")
			for _, undocumented := range undocumented(fset, file) {
				t.Errorf("%s has no comment", undocumented)
			}
		}
		if !documented {
			t.Errorf("%s has no package comment", p.short())
		}
	}
}

// TestEveryPackageHasAnExample that runs: of those between the fault codes and the wiring.
func TestEveryPackageHasAnExample(t *testing.T) {
	for _, p := range packages(t) {
		if ring := ringOf(p.short()); ring < 1 || ring > 4 || !strings.HasPrefix(p.short(), "core/") {
			continue
		}
		shown := false
		for _, file := range glob(t, p.short()+"/*_test.go") {
			text := read(t, file)
			shown = shown || strings.Contains(text, "\nfunc Example") && strings.Contains(text, "\t// Output:")
		}
		if !shown {
			t.Errorf("%s has no example", p.short())
		}
	}
}

// undocumented lists the exported names without a comment. A group's comment serves all of it, and a method's those of the same
// name in the lines right below.
func undocumented(fset *token.FileSet, file *ast.File) (missing []string) {
	miss := func(id *ast.Ident) { missing = append(missing, fset.Position(id.Pos()).String()+": "+id.Name) }
	var above *ast.FuncDecl // the documented function that the lines above belong to
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			below := above != nil && above.Name.Name == d.Name.Name && fset.Position(d.Pos()).Line == fset.Position(above.End()).Line+1
			if d.Doc == nil && !below && d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
				miss(d.Name)
			}
			above = nil
			if d.Doc != nil || below {
				above = d
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) && s.Comment == nil {
						miss(s.Name)
					}
				case *ast.ValueSpec:
					if s.Doc == nil && s.Comment == nil && d.Doc == nil {
						for _, name := range s.Names {
							if name.IsExported() {
								miss(name)
							}
						}
					}
				}
			}
		}
	}
	return missing
}

func exportedReceiver(recv *ast.FieldList) bool {
	typ := recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.IsExported()
		default:
			return true
		}
	}
}
