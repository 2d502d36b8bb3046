package bedrock_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// A server with the offline model answers any client of the real service.
func ExampleServer() {
	srv := httptest.NewServer(&bedrock.Server{Model: bedrock.Offline{}})
	defer srv.Close()
	body := strings.NewReader(`{"messages":[{"role":"user","content":[{"text":"say \"good morning\""}]}]}`)
	resp, err := http.Post(srv.URL+"/model/us.amazon.nova-lite-v1:0/converse", "application/json", body)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, strings.Contains(string(answer), `"content":[{"text":"good morning"}]`))
	// Output: 200 true
}

// A script says what a model might, mistakes included, and keeps what it was asked.
func ExampleScript() {
	script := &bedrock.Script{Replies: []bedrock.Reply{
		bedrock.Calling("call-1", "get_weather", `{"city":"Rome"}`),
		bedrock.Say("It is ", "sunny."),
		{bedrock.Text("It is"), &bedrock.Error{Type: "ModelStreamErrorException", Message: "broke off"}},
	}}
	for range 3 {
		for part, err := range script.Respond(context.Background(), bedrock.Request{ModelID: "m"}) {
			fmt.Printf("%T %v\n", part, err)
		}
	}
	fmt.Println(len(script.Requests()), "requests")
	// Output:
	// bedrock.ToolCall <nil>
	// bedrock.ToolInput <nil>
	// bedrock.ToolInput <nil>
	// bedrock.Text <nil>
	// bedrock.Text <nil>
	// bedrock.Text <nil>
	// *bedrock.Error ModelStreamErrorException: broke off
	// 3 requests
}
