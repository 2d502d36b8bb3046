package tool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// plain is a tool with nothing but a spec.
type plain tool.Spec

func (p plain) Spec() tool.Spec                                 { return tool.Spec(p) }
func (p plain) Call(tool.Context, json.RawMessage) (any, error) { return p.Description, nil }

func named(names ...string) tool.Registry {
	var r tool.Registry
	for _, n := range names {
		r = append(r, plain{Name: n, Description: "does " + n, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return r
}

func TestPick(t *testing.T) {
	r := named("a", "b", "c")
	r = append(r, plain{Name: "a", Description: "another a"})
	tests := []struct {
		name, names, found, unknown string
	}{
		{"in the order asked for", "c a", "c a", ""},
		{"unknown names", "x a y", "a", "x y"},
		{"each once", "a a x x", "a", "x"},
		{"none", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, unknown := r.Pick(strings.Fields(tt.names)...)
			if got := strings.Join(tool.Registry(found).Names(), " "); got != tt.found || strings.Join(unknown, " ") != tt.unknown {
				t.Errorf("Pick(%q) = %q, %q, want %q, %q", tt.names, got, unknown, tt.found, tt.unknown)
			}
		})
	}
	found, _ := r.Pick("a")
	if got := found[0].Spec().Description; got != "does a" {
		t.Errorf("Pick of a name given twice = %q, want the first", got)
	}
}

func TestValidate(t *testing.T) {
	if err := append(named("a", "b-c_D9"), tool.Builtin()...).Validate(); err != nil {
		t.Errorf("Validate = %v, want nil", err)
	}
	bad := append(named("a", "a", "", "no space", strings.Repeat("x", 65)),
		plain{Name: "mute", Schema: json.RawMessage(`{"type":"object"}`)},
		plain{Name: "shapeless", Description: "d"},
		plain{Name: "list", Description: "d", Schema: json.RawMessage(`{"type":"array"}`)},
		echo[string](),
	)
	err := bad.Validate()
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("Validate = %v, want Invalid", err)
	}
	var got []string
	for l := range strings.SplitSeq(err.Error(), "\n") {
		got = append(got, strings.TrimPrefix(l, "8 problems with tools: "))
	}
	want := []string{
		`tools[1] "a": the name is taken`,
		`tools[2] "": the name must be 1 to 64 letters, digits, _ or -`,
		`tools[3] "no space": the name must be 1 to 64 letters, digits, _ or -`,
		`tools[4] "` + strings.Repeat("x", 65) + `": the name must be 1 to 64 letters, digits, _ or -`,
		`tools[5] "mute": the description is missing`,
		`tools[6] "shapeless": the schema must be a JSON schema of type object`,
		`tools[7] "list": the schema must be a JSON schema of type object`,
		`tools[8] "echo": input of tool echo: string is no struct and no map`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestMarks(t *testing.T) {
	base := named("a")[0]
	tests := []struct {
		name string
		tool tool.Tool
		want tool.Spec
	}{
		{"none", base, tool.Spec{}},
		{"approval", tool.RequireApproval(base), tool.Spec{RequireApproval: true}},
		{"once", tool.Once(base), tool.Spec{Once: true}},
		{"read only", tool.ReadOnly(base), tool.Spec{ReadOnly: true}},
		{"by name", tool.ByName(base), tool.Spec{ByName: true}},
		{"all, through every wrapper", tool.Audit(tool.Limit(tool.Timeout(tool.RetryReads(tool.Once(tool.ReadOnly(tool.RequireApproval(base))), 0, 0), time.Minute), 20), nil),
			tool.Spec{RequireApproval: true, Once: true, ReadOnly: true, MaxResult: 20, MaxTime: time.Minute, Tries: tool.DefaultTries, Audited: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			want.Name, want.Description, want.Schema = base.Spec().Name, base.Spec().Description, base.Spec().Schema
			if diff := cmp.Diff(want, tt.tool.Spec()); diff != "" {
				t.Errorf("Spec (-want +got):\n%s", diff)
			}
			if got, err := tt.tool.Call(tool.Context{}, nil); err != nil || text(t, got) != "does a" {
				t.Errorf("Call = %v, %v: a mark must not change what the tool does", got, err)
			}
		})
	}
}

// text is the text of a result of one part.
func text(t *testing.T, output any) string {
	t.Helper()
	parts, err := tool.Content(output)
	if err != nil || len(parts) != 1 {
		t.Fatalf("Content(%v) = %v, %v, want one part", output, parts, err)
	}
	return parts[0].Text
}

// TestRegistryDo: a tool runs outside of a turn as who is named, and its output is JSON.
func TestRegistryDo(t *testing.T) {
	type in struct {
		X string `json:"x"`
	}
	tools := tool.Registry{
		tool.New("who", "says who", func(ctx tool.Context, in in) (map[string]string, error) {
			return map[string]string{"x": in.X, "use": ctx.ToolUseID, "for": ctx.Principal.ID}, nil
		}),
		tool.New("mute", "says nothing that is JSON", func(tool.Context, in) (any, error) { return func() {}, nil }),
		tool.RequireApproval(tool.New("pay", "pays", func(tool.Context, in) (any, error) {
			t.Error("it ran, and nobody was asked")
			return nil, nil
		})),
	}
	for _, tt := range []struct {
		name, tool, input, want string
		fault                   fault.Code
	}{
		{"found", "who", `{"x":"1"}`, `{"for":"nightly","use":"u1","x":"1"}`, ""},
		{"not there", "when", `{}`, "", fault.NotFound},
		{"input that does not fit", "who", `{"x":1}`, "", fault.Invalid},
		{"a person would have to approve", "pay", `{"x":"1"}`, "", fault.Denied},
		{"no JSON", "mute", `{"x":"1"}`, "", fault.Internal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tools.Do(t.Context(), nil, "u1", task.System("nightly"), tt.tool, json.RawMessage(tt.input))
			if string(got) != tt.want || fault.CodeOf(err) != tt.fault {
				t.Errorf("got %s, %v, want %s, %q", got, err, tt.want, tt.fault)
			}
		})
	}
}
