// The house rules as tests: where imports may point, which function links what, that functions, template and sample events are
// in step (here), and how a file has to look (text_test.go).
package steadfast_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

const module = "github.com/steadfast-agents/steadfast/"

// rings are the packages from the inside out. The last ring holds whole trees. To add a package, give it a ring.
var rings = [][]string{
	{"core/fault"},
	{"core/key", "core/contract", "core/model", "core/cond", "core/schedule", "core/task", "core/money", "core/guard"},
	{"core/session", "core/tool"},
	{"core/snapshot", "core/skill", "core/loop", "core/retell"},
	{"core/flow", "core/store", "core/bus", "core/later", "core/bedrock", "core/entry", "core/identity", "core/socket", "core/turn", "core/memory",
		"core/mcp", "core/channel", "core/workspace", "core/upload"},
	{"core/boot", "core/boot/live", "core/boot/later", "core/boot/secrets", "core/boot/host", "agency"},
	{"agent", "agent/schedules", "agent/workspace", "agent/channels", "functions/", "cmd/", "internal/"},
}

const pure = 3 // the outermost ring without AWS, clock and randomness

func ringOf(pkg string) int {
	for ring, packages := range rings {
		for _, p := range packages {
			if pkg == p || strings.HasSuffix(p, "/") && strings.HasPrefix(pkg, p) {
				return ring
			}
		}
	}
	return -1
}

// goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath, Name, Dir  string
	GoFiles, Imports, Deps []string
}

// short is the path within the module.
func (p goPackage) short() string { return strings.TrimPrefix(p.ImportPath, module) }

func packages(t *testing.T) []goPackage {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Name,Dir,GoFiles,Imports,Deps", "./...")
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
	if len(all) < 20 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	return all
}

func TestImportsPointInward(t *testing.T) {
	for _, p := range packages(t) {
		ring := ringOf(p.short())
		if ring < 0 {
			t.Errorf("%s has no ring", p.short())
		}
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			if ours && (ringOf(to) > ring || strings.HasPrefix(p.short(), "core/") && to == "agency") {
				t.Errorf("%s (ring %d) imports %s (ring %d)", p.short(), ring, to, ringOf(to))
			}
			if ours && !mayImport(p.short(), to) {
				t.Errorf("%s imports %s, which is not for it", p.short(), to)
			}
		}
	}
}

// mayImport keeps the outermost ring apart: what deploys knows nothing of fakes and the local cloud.
func mayImport(from, to string) bool {
	inside := func(pkg, tree string) bool { return pkg == tree || strings.HasPrefix(pkg, tree+"/") }
	switch {
	case inside(to, "internal/fake"), inside(to, "internal/stage"):
		return inside(from, "internal/fake") || inside(from, "internal/stage")
	case inside(to, "internal/cloud"):
		return inside(from, "internal/cloud") || inside(from, "cmd")
	case inside(to, "internal"), inside(to, "cmd"):
		return inside(from, "internal") || inside(from, "cmd")
	}
	return !inside(to, "functions")
}

func TestRulesOfImports(t *testing.T) {
	tests := []struct {
		from, to       string
		inward, allows bool
	}{
		{"core/session", "core/task", true, true},
		{"core/task", "core/session", false, true},
		{"core/boot/host", "core/boot", true, true},
		{"core/flow", "agent", false, true},
		{"functions/run-turn", "agent", true, true},
		{"functions/run-turn", "functions/recover", true, false},
		{"functions/run-turn", "internal/fake", true, false},
		{"internal/stage", "internal/fake/attr", true, true},
		{"internal/cloud", "internal/fake", true, false},
		{"cmd/steadfast", "internal/cloud", true, true},
		{"agent", "internal/cloud/sam", true, false},
	}
	for _, tc := range tests {
		if inward, allows := ringOf(tc.to) <= ringOf(tc.from), mayImport(tc.from, tc.to); inward != tc.inward || allows != tc.allows {
			t.Errorf("%s -> %s: inward %t, allowed %t, want %t, %t", tc.from, tc.to, inward, allows, tc.inward, tc.allows)
		}
	}
	if ring := ringOf("core/utilities"); ring != -1 {
		t.Errorf("an unknown package has ring %d", ring)
	}
}

// TestPurePackages: rings 0 to 3 decide, so they ask neither AWS nor clock nor dice. Tools and the loop's runner wait and measure.
func TestPurePackages(t *testing.T) {
	impure := regexp.MustCompile(`^(time\.(Now|Since|Until|Sleep|After|AfterFunc|NewTimer|NewTicker|Tick)|rand\.\w+|uuid\.New\w*)$`)
	waits := []string{"core/tool", "core/loop", "core/skill"}
	for _, p := range packages(t) {
		if ring := ringOf(p.short()); ring < 0 || ring > pure {
			continue
		}
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, "github.com/aws/") {
				t.Errorf("%s links %s", p.short(), dep)
			}
		}
		if slices.Contains(waits, p.short()) {
			continue
		}
		for _, name := range p.GoFiles {
			fset, file := parse(t, filepath.Join(p.Dir, name))
			ast.Inspect(file, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && impure.MatchString(x.Name+"."+sel.Sel.Name) {
						t.Errorf("%s: %s.%s in a pure package", fset.Position(n.Pos()), x.Name, sel.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// heavy are the packages that only a function that runs turns may link; they make a cold start slow.
var heavy = []string{"core/tool", "core/loop", "core/bedrock", "core/turn", "core/boot/host", "core/mcp", "core/memory", "agent"}

func TestLightFunctions(t *testing.T) {
	runsTurns := []string{"functions/run-turn", "functions/call-tool", "functions/agency-route", "functions/agency-task", "functions/agency-check-in", "functions/run-schedule"} // the content is heavy
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.short(), "functions/") {
			continue
		}
		if slices.Contains(p.Deps, module+"core/later") && !slices.Contains(p.Imports, module+"core/boot/later") {
			t.Errorf("%s links core/later, and opens no scheduler", p.short())
		}
		if slices.Contains(runsTurns, p.short()) {
			continue
		}
		for _, h := range heavy {
			if h == "core/tool" && slices.Contains(p.Deps, module+"core/skill") {
				continue // a function that checks skills: their package has tools
			}
			if slices.Contains(p.Deps, module+h) {
				t.Errorf("%s links %s", p.short(), h)
			}
		}
	}
}

func template(t *testing.T) *sam.Stack {
	t.Helper()
	stack, err := sam.Load("template.yaml", sam.Inputs{Defaults: map[string]string{
		"CognitoUserPoolId": "us-east-1_AbCdEfGhI", "CognitoClientId": "client",
	}})
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

// TestSecurityGuide: the guide says of every route who may use it, and of no other.
func TestSecurityGuide(t *testing.T) {
	var want, got []string
	for _, r := range template(t).HTTP.Routes {
		want = append(want, r.Method+" "+r.Path)
	}
	for line := range strings.Lines(read(t, "docs/security.md")) {
		if route, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "`"); ok && strings.Contains(route, " /agent/") {
			got = append(got, route)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/security.md (-template +guide):\n%s", diff)
	}
}

// TestFunctionsAreInStep: each folder of functions has its resource and its sample event, and there are no others.
func TestFunctionsAreInStep(t *testing.T) {
	var folders, resources, samples []string
	for _, dir := range glob(t, "functions/*") {
		folders = append(folders, filepath.Base(dir))
	}
	for _, f := range template(t).Functions {
		if f.Dir != "functions/"+f.Name {
			t.Errorf("%s has the CodeUri %s", f.LogicalID, f.Dir)
		}
		resources = append(resources, f.Name)
	}
	for _, file := range glob(t, "events/*") {
		samples = append(samples, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	slices.Sort(resources)
	slices.Sort(samples)
	if diff := cmp.Diff(folders, resources); diff != "" {
		t.Errorf("template.yaml (-functions +template):\n%s", diff)
	}
	if diff := cmp.Diff(folders, samples); diff != "" {
		t.Errorf("events (-functions +events):\n%s", diff)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found
}

// TestMainsOnlyWire: a main says what it is for and is short.
func TestMainsOnlyWire(t *testing.T) {
	for _, file := range glob(t, "functions/*/main.go") {
		if n := lines(t, file); n > 60 {
			t.Errorf("%s has %d lines, a main only wires", file, n)
		}
		name := filepath.Base(filepath.Dir(file))
		if _, parsed := parse(t, file); !strings.HasPrefix(parsed.Doc.Text(), name+" ") {
			t.Errorf("%s does not begin with what %s is", file, name)
		}
	}
}

// TestFunctionsGetWhatTheyNeed: a variable that a main cannot do without is in its resource, and so are build and log.
func TestFunctionsGetWhatTheyNeed(t *testing.T) {
	needs := map[string]string{"Table": "TABLE_NAME", "WebSocket": "WEBSOCKET_ENDPOINT", "Issuer": "COGNITO_ISSUER", "ClientID": "COGNITO_CLIENT_ID",
		"ScheduleGroup": "SCHEDULE_GROUP", "SchedulerRole": "SCHEDULER_ROLE_ARN"}
	named := regexp.MustCompile(`boot\.(\w+)[,)]`)
	env := read(t, "core/boot/env.go")
	resources := resources(t)
	for _, f := range template(t).Functions {
		for _, m := range named.FindAllStringSubmatch(read(t, f.Dir+"/main.go"), -1) {
			if variable, ok := needs[m[1]]; ok && f.Env[variable] == "" {
				t.Errorf("%s needs %s, which its resource does not set", f.Name, variable)
			}
		}
		for variable := range f.Env {
			if !strings.Contains(env, `"`+variable+`"`) && !strings.HasPrefix(variable, "MCP_") { // sessions' headers name those
				t.Errorf("%s gets %s, which nothing reads", f.Name, variable)
			}
		}
		r := resources[f.LogicalID]
		if r.Metadata.BuildMethod != "go1.x" || resources[r.Properties.LoggingConfig.LogGroup].Type != "AWS::Logs::LogGroup" {
			t.Errorf("%s: build method %q, log group %q", f.LogicalID, r.Metadata.BuildMethod, r.Properties.LoggingConfig.LogGroup)
		}
	}
}

// resource is what a resource of the template says beyond what the local cloud needs.
type resource struct {
	Type     string `yaml:"Type"`
	Metadata struct {
		BuildMethod string `yaml:"BuildMethod"`
	} `yaml:"Metadata"`
	Properties struct {
		LoggingConfig struct {
			LogGroup string `yaml:"LogGroup"`
		} `yaml:"LoggingConfig"`
	} `yaml:"Properties"`
}

func resources(t *testing.T) map[string]resource {
	t.Helper()
	var doc struct {
		Resources map[string]resource `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "template.yaml")), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Resources
}

func parse(t *testing.T, file string) (*token.FileSet, *ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return fset, parsed
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func lines(t *testing.T, file string) int {
	t.Helper()
	return strings.Count(read(t, file), "\n")
}
