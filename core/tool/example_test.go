package tool_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/steadfast-agents/steadfast/core/tool"
)

// A tool is a function of its context and a struct. The model writes the struct; the tenant comes from the host.
func ExampleNew() {
	type tenant struct{ ID string }
	type query struct {
		Words string `json:"words" jsonschema:"what to look for"`
		Limit int    `json:"limit" default:"3"`
	}
	search := tool.New("search_posts", "Searches the tenant's posts.", func(ctx tool.Context, q query) (string, error) {
		who, err := tool.State[tenant](ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("the %d best posts of %s about %s", q.Limit, who.ID, q.Words), nil
	})

	ctx := tool.Context{Context: context.Background()}.WithState(tenant{ID: "acme"})
	fmt.Println(search.Call(ctx, json.RawMessage(`{"words":"leases"}`)))
	fmt.Println(search.Call(ctx, json.RawMessage(`{"limit":3}`)))
	// Output:
	// the 3 best posts of acme about leases <nil>
	// <nil> the input does not fit the tool search_posts: required: missing properties: ["words"]
}

// A session picks its tools by name; names nobody knows are for the log.
func ExampleRegistry_Pick() {
	tools, unknown := tool.Builtin().Pick("get_current_time", "time_machine")
	fmt.Println(tool.Registry(tools).Names(), unknown)
	// Output: [get_current_time] [time_machine]
}
