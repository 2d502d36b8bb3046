package session_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/session"
)

func TestConfigValidate(t *testing.T) {
	server := func(s contract.MCPServer) func(*session.Config) {
		return func(c *session.Config) { c.MCPServers = map[string]contract.MCPServer{"blog": s} }
	}
	servers := func(n int) map[string]contract.MCPServer {
		m := map[string]contract.MCPServer{}
		for i := range n {
			m[fmt.Sprint(i)] = contract.MCPServer{URL: "https://mcp.example.com"}
		}
		return m
	}
	number := func(f float64) func(*session.Config) { return func(c *session.Config) { c.Temperature = &f } }
	tests := []struct {
		name string
		edit func(*session.Config)
		want string // what the fault names; "": none
	}{
		{"small", func(*session.Config) {}, ""},
		{"no session id", func(c *session.Config) { c.SessionID = "" }, "sessionId: must not be empty"},
		{"a task's session id", func(c *session.Config) { c.SessionID = "task-1" }, "sessionId: must not start"},
		{"no user", func(c *session.Config) { c.UserID = "" }, "userId: must not be empty"},
		{"title at the limit", func(c *session.Config) { c.Title = strings.Repeat("é", 256) }, ""},
		{"title over it", func(c *session.Config) { c.Title = strings.Repeat("é", 257) }, "title: 514 bytes, the limit is 512"},
		{"prompt at the limit", func(c *session.Config) { c.SystemPrompt = strings.Repeat("x", 65536) }, ""},
		{"prompt over it", func(c *session.Config) { c.SystemPrompt = strings.Repeat("x", 65537) }, "systemPrompt: 65537 bytes, the limit is 65536"},
		{"model over the limit", func(c *session.Config) { c.ModelID = strings.Repeat("m", 2049) }, "modelId: 2049 bytes"},
		{"temperature 0", number(0), ""},
		{"temperature 1", number(1), ""},
		{"temperature over 1", number(1.01), "temperature: must be from 0 to 1"},
		{"temperature under 0", number(-0.01), "temperature: must be from 0 to 1"},
		{"temperature no number", number(math.NaN()), "temperature: must be from 0 to 1"},
		{"tokens at the limit", func(c *session.Config) { c.MaxTokens = 1_000_000 }, ""},
		{"tokens over it", func(c *session.Config) { c.MaxTokens = 1_000_001 }, "maxTokens: must be from 1 to 1000000"},
		{"tokens negative", func(c *session.Config) { c.MaxTokens = -1 }, "maxTokens: must be from 1 to 1000000"},
		{"tools at the limit", func(c *session.Config) { c.Tools = make([]string, 128) }, ""},
		{"tools over it", func(c *session.Config) { c.Tools = make([]string, 129) }, "tools: 129 names, the limit is 128"},
		{"servers at the limit", func(c *session.Config) { c.MCPServers = servers(16) }, ""},
		{"servers over it", func(c *session.Config) { c.MCPServers = servers(17) }, "mcpServers: 17 servers, the limit is 16"},
		{"an allowed host", server(contract.MCPServer{URL: "https://mcp.example.com/mcp?x=1"}), ""},
		{"an allowed host with any port", server(contract.MCPServer{URL: "https://mcp.example.com:8443/"}), ""},
		{"a port that is named", server(contract.MCPServer{URL: "https://other.example.com:444/"}), ""},
		{"another port", server(contract.MCPServer{URL: "https://other.example.com/"}), `mcpServers.blog.url: host "other.example.com" is not allowed`},
		{"another host", server(contract.MCPServer{URL: "https://evil.example.com/"}), `mcpServers.blog.url: host "evil.example.com" is not allowed`},
		{"a host that ends alike", server(contract.MCPServer{URL: "https://evilmcp.example.com/"}), "is not allowed"},
		{"a user in front of the host", server(contract.MCPServer{URL: "https://mcp.example.com@evil.com/"}), "mcpServers.blog.url: must be an https URL"},
		{"http", server(contract.MCPServer{URL: "http://mcp.example.com/"}), "mcpServers.blog.url: must be an https URL"},
		{"no URL", server(contract.MCPServer{}), "mcpServers.blog.url: must be an https URL"},
		{"a URL that is none", server(contract.MCPServer{URL: "https://\x7f"}), "mcpServers.blog.url: must be an https URL"},
		{"a command", server(contract.MCPServer{URL: "https://mcp.example.com/", Command: "npx"}), "mcpServers.blog: servers that are started by a command"},
		{"arguments", server(contract.MCPServer{URL: "https://mcp.example.com/", Args: []string{"-y"}}), "mcpServers.blog: servers that are started by a command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := session.Config{SessionID: "s", UserID: "u"}
			tt.edit(&c)
			err := c.Validate([]string{"mcp.example.com", "other.example.com:444"})
			if (err == nil) != (tt.want == "") || err != nil && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Validate = %v, want Invalid with %q", err, tt.want)
			}
		})
	}
}

func TestCheckOwner(t *testing.T) {
	for _, tt := range []struct {
		owner, user string
		want        fault.Code
	}{{"u", "u", ""}, {"u", "v", fault.Denied}, {"u", "", fault.Denied}, {"", "v", fault.Denied}} {
		if err := (session.Config{UserID: tt.owner}).CheckOwner(tt.user); fault.CodeOf(err) != tt.want {
			t.Errorf("CheckOwner(%q) of %q's = %v, want %q", tt.user, tt.owner, err, tt.want)
		}
	}
}
