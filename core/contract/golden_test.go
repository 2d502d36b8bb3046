package contract_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/contract"
)

var update = flag.Bool("update", false, "write the goldens: a change of one is a change of the contract")

// goldens are all messages that cross the boundary, each with every field set, and small ones with none that is optional.
func goldens() map[string]any {
	all := map[string]any{}
	for name, v := range busMessages() {
		all[name] = v
	}
	for name, v := range socketMessages() {
		all[name] = v
	}
	for _, data := range sessionEvents() {
		all[data.EventType()] = event(data)
	}
	for name, data := range smallSessionEvents() {
		all[name] = event(data)
	}
	return all
}

func path(name string) string { return filepath.Join("testdata", name+".v1.json") }

func encode(t *testing.T, v any) []byte {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// decodeLike reads data as a value of v's type.
func decodeLike(v any, data []byte) (any, error) {
	to := reflect.New(reflect.TypeOf(v))
	err := json.Unmarshal(data, to.Interface())
	return to.Elem().Interface(), err
}

func TestEveryMessageIsItsGolden(t *testing.T) {
	for name, v := range goldens() {
		t.Run(name, func(t *testing.T) {
			got := encode(t, v)
			if *update {
				if err := os.WriteFile(path(name), got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path(name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Fatalf("encoded (-want +got):\n%s", diff)
			}
			back, err := decodeLike(v, want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(encode(t, back))); diff != "" {
				t.Errorf("decoded and encoded again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoGoldenIsLeftOver(t *testing.T) {
	files, err := filepath.Glob(path("*"))
	if err != nil {
		t.Fatal(err)
	}
	known := goldens()
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".v1.json")
		if _, ok := known[name]; !ok {
			t.Errorf("%s is no message's golden", f)
		}
	}
	if len(files) != len(known) {
		t.Errorf("%d goldens for %d messages", len(files), len(known))
	}
}

// Every type of the package that is a session event has a golden: the source is asked, since a type cannot be forgotten there.
func TestEveryEventTypeHasAGolden(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "session_events.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared, covered []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "EventType" {
			declared = append(declared, f.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	for _, data := range sessionEvents() {
		covered = append(covered, reflect.TypeOf(data).Name())
	}
	slices.Sort(declared)
	slices.Sort(covered)
	if diff := cmp.Diff(declared, covered); diff != "" {
		t.Errorf("event types (-declared +covered):\n%s", diff)
	}
}

// bodies are all messages, and the data of session events as its own type.
func bodies() map[string]any {
	all := goldens()
	for _, data := range sessionEvents() {
		all["data of "+data.EventType()] = data
	}
	for name, data := range smallSessionEvents() {
		all["data of "+name] = data
	}
	return all
}

func fieldsOf(t *testing.T, v any) map[string]json.RawMessage {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(encode(t, v), &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	for name, v := range bodies() {
		t.Run(name, func(t *testing.T) {
			fields := fieldsOf(t, v)
			fields["addedLater"] = json.RawMessage(`{"deep":[1]}`)
			back, err := decodeLike(v, encode(t, fields))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(encode(t, v)), string(encode(t, back))); diff != "" {
				t.Errorf("with an unknown field (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWrongTypeIsAnErrorThatNamesTheField(t *testing.T) {
	for name, v := range bodies() {
		t.Run(name, func(t *testing.T) {
			fields := fieldsOf(t, v)
			for field, was := range fields {
				fields[field] = otherKind(was)
				_, err := decodeLike(v, encode(t, fields))
				if !takesAnything(v, field) && (err == nil || !strings.Contains(err.Error(), field)) {
					t.Errorf("%s = %s: error %v, want one that names the field", field, fields[field], err)
				}
				fields[field] = was
			}
		})
	}
}

// takesAnything reports whether a field holds any JSON.
func takesAnything(v any, field string) bool {
	switch v.(type) {
	case contract.ScheduleEvent:
		return field == "delay" // or a number
	case contract.SessionEvent, contract.AgentSessionEvent:
		return field == "data"
	case contract.ActionResult:
		return field == "output"
	case contract.ApprovalRequested:
		return field == "input"
	}
	return false
}

// otherKind is a value of another type than was.
func otherKind(was json.RawMessage) json.RawMessage {
	if was[0] == '"' {
		return json.RawMessage(`7`)
	}
	return json.RawMessage(`"text"`)
}
