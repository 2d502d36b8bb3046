package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/mcp"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// A program of its own uses the tools of a server like any other tools.
func ExampleDialer_Connect() {
	server := sdk.NewServer(&sdk.Implementation{Name: "blog", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "search", Description: "Searches the posts."},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct {
			Words string `json:"words"`
		}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "1 post about " + in.Words}}}, nil, nil
		})
	blog := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer blog.Close()

	dialer := mcp.Dialer{AllowedHosts: contract.MCPHosts{blog.URL}} // as http://127.0.0.1:1234; in public a host of https
	servers, err := dialer.Connect(context.Background(), map[string]contract.MCPServer{"blog": {URL: blog.URL}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = servers.Close() }()
	for _, t := range servers.Tools() {
		fmt.Println(t.Spec().Name, "-", t.Spec().Description)
	}
	result, err := servers.Tools()[0].Call(tool.Context{Context: context.Background()}, json.RawMessage(`{"words":"boats"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.([]model.ResultPart)[0].Text)
	// Output:
	// blog__search - Searches the posts.
	// 1 post about boats
}
