package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/mcp"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// TestP26Names: a name is valid, the same whatever else is connected, and never that of another tool.
func TestP26Names(t *testing.T) {
	sixty := strings.Repeat("n", 60)
	tests := []struct{ label, tool, want string }{
		{"blog", "search", "blog__search"},
		{"my_blog", "search_posts", "my_blog__search_posts"},
		{"blog", "search__all", "blog__search__all"},
		{"b-1", "S-2", "b-1__S-2"},
		{"blog", "_private", "blog__private_"},
		{"blog_", "x", "blog__x_"},
		{"a__b", "c", "a__b_c_"},
		{"blog", "search.posts", "blog_search_posts_"},
		{"блог", "поиск", ""},
		{"blog", "with space/and:more", "blog_with_space_and_more_"},
		{"blog", sixty, "blog_nnnnn"},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		got := mcp.Name(tt.label, tt.tool)
		if !strings.HasPrefix(got, tt.want) || model.ToolName(got) != got || len(got) > 64 || seen[got] {
			t.Errorf("Name(%q, %q) = %q, want a valid new name that begins with %q", tt.label, tt.tool, got, tt.want)
		}
		seen[got] = true
		if again := mcp.Name(tt.label, tt.tool); again != got {
			t.Errorf("Name(%q, %q) = %q, then %q", tt.label, tt.tool, got, again)
		}
	}
	for _, pair := range [][4]string{{"a", "b_c", "a_b", "c"}, {"a", "_b", "a_", "b"}, {"a", "b__c", "a__b", "c"}, {"x", "a.b", "x", "a_b"}, {"x", sixty + "1", "x", sixty + "2"}} {
		if one, other := mcp.Name(pair[0], pair[1]), mcp.Name(pair[2], pair[3]); one == other {
			t.Errorf("%q is the name of two tools: %q", one, pair)
		}
	}
}

// FuzzName: names stay valid and apart.
func FuzzName(f *testing.F) {
	f.Add("a", "b__c", "a__b", "c")
	f.Add("a", "_b", "a_", "b")
	f.Fuzz(func(t *testing.T, label, name, label2, name2 string) {
		one, other := mcp.Name(label, name), mcp.Name(label2, name2)
		if model.ToolName(one) != one {
			t.Errorf("Name(%q, %q) = %q", label, name, one)
		}
		plain := strings.Contains(one, "__") && one == label+"__"+name
		if plain && one == other && other == label2+"__"+name2 && (label != label2 || name != name2) {
			t.Errorf("%q is %q %q and %q %q", one, label, name, label2, name2)
		}
	})
}

// TestP26OneBadTool: whatever names and schemas a server has, the request is one that a model service takes, tools that can be used
// are, under the names by which the server knows them, and the model is told of others.
func TestP26OneBadTool(t *testing.T) {
	sixty := strings.Repeat("n", 60)
	called := func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return said(r.Params.Name), nil
	}
	nested := `{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`
	schemas := map[string]string{
		"any":  `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`,
		"one":  `{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"number"}}}]}`,
		"all":  `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]}`,
		"ref":  `{"type":"object","$ref":"#/$defs/in","$defs":{"in":{"type":"object","properties":{"a":{"type":"string"}}}}}`,
		"nest": nested, "search.posts": `{"type":"object"}`, "search_posts": `{"type":"object"}`, "search posts": `{"type":"object"}`, sixty: `{"type":"object"}`,
		"huge": `{"type":"object","description":"` + strings.Repeat("x", 40_000) + `"}`,
	}
	srv := serve(t, listing(schemas, called))
	s := one(t, srv)
	if want := len(schemas) - 1; len(s.Tools()) != want || s.Note() != "Tools of the MCP servers that cannot be used: 1." {
		t.Errorf("%d tools, want %d; note %q", len(s.Tools()), want, s.Note())
	}
	if err := tool.Registry(s.Tools()).Validate(); err != nil {
		t.Error(err)
	}
	specs := make([]model.ToolSpec, len(s.Tools()))
	for i, tl := range s.Tools() {
		specs[i] = tl.Spec().Model()
		if specs[i].Name == "lab__nest" && !strings.Contains(string(specs[i].Schema), `{"x":{"anyOf":[`) {
			t.Errorf("a nested anyOf became %s", specs[i].Schema)
		}
	}
	req := model.Request{ModelID: "m", Tools: specs, Messages: []model.Message{{Role: model.User, Content: []model.Block{{Text: "hi"}}}}}
	if err := model.Check(model.Build(req)); err != nil {
		t.Errorf("the request: %v", err)
	}
	for name := range schemas {
		if name != "huge" {
			if got := text(t, s, mcp.Name("lab", name), `{}`); got != name {
				t.Errorf("%q was called as %q", name, got)
			}
		}
	}
}

// listing is a server whose list of tools the SDK's own server would refuse to have.
func listing(schemas map[string]string, call sdk.ToolHandler) http.Handler {
	s := sdk.NewServer(&sdk.Implementation{Name: "lab", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			switch method {
			case "tools/list":
				out := &sdk.ListToolsResult{}
				for name, schema := range schemas {
					out.Tools = append(out.Tools, &sdk.Tool{Name: name, Description: "x", InputSchema: json.RawMessage(schema)})
				}
				return out, nil
			case "tools/call":
				return call(ctx, r.(*sdk.CallToolRequest))
			}
			return next(ctx, method, r)
		}
	})
	return streamable(s)
}
