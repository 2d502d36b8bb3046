package contract_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// TestAllowMCPHost: which addresses a list of hosts allows. Anything that could lead elsewhere than it reads is refused.
func TestAllowMCPHost(t *testing.T) {
	hosts := contract.MCPHosts{"mcp.example.com", "other.example.com:444", "2001:db8::1", "10.1.0.0/16", "http://127.0.0.1:3001", "http://[::1]:3002", "http://mcp.example.com:80"}
	allowed := []string{
		"https://mcp.example.com", "https://mcp.example.com/mcp?x=1#y", "https://MCP.Example.com:8443/", "https://other.example.com:444/",
		"https://[2001:db8::1]/", "http://127.0.0.1:3001/mcp", "http://[::1]:3002/",
	}
	refused := []string{
		"", "mcp.example.com", "//mcp.example.com", "http://mcp.example.com/", "http://mcp.example.com:80/", "ws://mcp.example.com/", "file:///etc/passwd",
		"https://other.example.com/", "https://evil.com/", "https://evilmcp.example.com/", "https://mcp.example.com.evil.com/", "https://mcp.example.com./",
		"https://mcp.example.com@evil.com/", "https://mcp.example.com:pw@mcp.example.com/", "https://evil.com#@mcp.example.com/", `https://evil.com\@mcp.example.com/`,
		"https://10.1.2.3/", "https://127.0.0.1:3001/", "http://127.0.0.1:3002/", "http://localhost:3001/", "http://2130706433:3001/", "https://\x7f", "https://",
		"https:///mcp", "https://mcp.example.com:99999999/\n", "https://mcp.example.com/" + strings.Repeat("x", 2048),
	}
	for _, url := range allowed {
		if u, err := hosts.Allow(url); err != nil || u == nil {
			t.Errorf("Allow(%q) = %v", url, err)
		}
		if _, err := (contract.MCPHosts{}).Allow(url); !fault.Is(err, fault.Invalid) {
			t.Errorf("an empty list allows %q: %v", url, err)
		}
	}
	for _, url := range refused {
		if _, err := hosts.Allow(url); !fault.Is(err, fault.Invalid) {
			t.Errorf("Allow(%.80q) = %v, want Invalid", url, err)
		}
	}
}

// FuzzAllowMCPHost: what is allowed goes to the host that is listed, by https, as the URL's own parser reads it again.
func FuzzAllowMCPHost(f *testing.F) {
	for _, seed := range []string{"https://mcp.example.com/mcp", "https://mcp.example.com@evil.com/", `https://evil.com\@mcp.example.com`, "https://mcp.example.com:1/?x#y"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		u, err := contract.MCPHosts{"mcp.example.com"}.Allow(address)
		if err != nil {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil || again.Scheme != "https" || !strings.EqualFold(again.Hostname(), "mcp.example.com") || again.User != nil {
			t.Errorf("Allow(%q) = %q, %v", address, again, err)
		}
	})
}

// TestCheckMCPHosts: what an operator may list.
func TestCheckMCPHosts(t *testing.T) {
	for entry, good := range map[string]bool{
		"mcp.example.com": true, "mcp.example.com:8443": true, "10.1.0.0/16": true, "http://127.0.0.1:3001": true, "http://localhost:3001": true,
		"http://[::1]:3001": true, "10.1.2.3": true,
		"*": false, "*.example.com": false, "https://mcp.example.com": false, "http://mcp.example.com:80": false, "http://127.0.0.1": false,
		"mcp.example.com/mcp": false, "a b": false, "user@host": false, "http://": false,
	} {
		if err := (contract.MCPHosts{"ok.example.com", entry}).Check(); good != (err == nil) || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("Check(%q) = %v, want good %t", entry, err, good)
		}
	}
}

// TestCheckMCPServers: each rule, with the field that breaks it.
func TestCheckMCPServers(t *testing.T) {
	good := func() contract.MCPServer {
		return contract.MCPServer{URL: "https://mcp.example.com/mcp", Headers: map[string]string{"x-api-version": "2025-01", "Authorization": "Bearer ${MCP_TOKEN}"},
			AuthHeader: &contract.AuthHeader{Name: "x-auth", Value: "a.b+/="}}
	}
	header := func(name, value string) func(*contract.MCPServer) {
		return func(s *contract.MCPServer) { s.Headers = map[string]string{name: value} }
	}
	auth := func(name, value string) func(*contract.MCPServer) {
		return func(s *contract.MCPServer) { s.AuthHeader = &contract.AuthHeader{Name: name, Value: value} }
	}
	tests := []struct {
		name   string
		change func(*contract.MCPServer)
		want   string // "": allowed
	}{
		{"good", func(*contract.MCPServer) {}, ""},
		{"disabled is judged too", func(s *contract.MCPServer) { s.Disabled, s.URL = true, "https://evil.com" }, `mcpServers.blog.url: host "evil.com" is not allowed`},
		{"a command", func(s *contract.MCPServer) { *s = contract.MCPServer{Command: "npx"} }, "mcpServers.blog: servers that are started by a command"},
		{"arguments alone", func(s *contract.MCPServer) { s.Args = []string{"-y"} }, "mcpServers.blog: servers that are started by a command"},
		{"the same header twice", func(s *contract.MCPServer) { s.Headers = map[string]string{"X-A": "1", "x-a": "2"} }, "stands there twice"},
		{"no header's name", header("x a", "1"), `mcpServers.blog.headers: "x a" is no header's name`},
		{"an empty name", header("", "1"), "is no header's name"},
		{"a name with a line break", header("x\r\ny", "1"), "is no header's name"},
		{"the protocol's own", header("Mcp-Session-Id", "1"), "one that the protocol sets"},
		{"the host", header("Host", "evil.com"), "one that the protocol sets"},
		{"another's content", header("content-length", "5"), "one that the protocol sets"},
		{"a line break in a value", header("x-a", "1\r\nx-b: 2"), "mcpServers.blog.headers.x-a: must be text on one line"},
		{"space around a value", header("x-a", " 1"), "mcpServers.blog.headers.x-a: must be text on one line"},
		{"a tab in a value", header("x-a", "1\t2"), ""},
		{"an empty value", header("x-a", ""), ""},
		{"a long value", header("x-a", strings.Repeat("x", 9000)), "1 headers of 9015 bytes, the limits are 32 and 8192"},
		{"no identity", auth("x-auth", ""), "mcpServers.blog.authHeader.value: must be text on one line"},
		{"an identity of two lines", auth("x-auth", "a\nb"), "mcpServers.blog.authHeader.value: must be text on one line"},
		{"an identity's odd name", auth("x auth", "a"), "mcpServers.blog.authHeader.name: "},
		{"an identity in the protocol's header", auth("mcp-protocol-version", "a"), "mcpServers.blog.authHeader.name: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := good()
			tt.change(&s)
			err := contract.CheckMCPServers(map[string]contract.MCPServer{"blog": s}, contract.MCPHosts{"mcp.example.com"})
			if tt.want == "" && err != nil || tt.want != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(fault.Public(err), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	for _, label := range []string{"", "a\nb", strings.Repeat("l", 65)} {
		if err := contract.CheckMCPServers(map[string]contract.MCPServer{label: good()}, contract.MCPHosts{"mcp.example.com"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("the label %.20q: %v, want Invalid", label, err)
		}
	}
	many := map[string]contract.MCPServer{}
	for i := range 17 {
		many[fmt.Sprint(i)] = good()
	}
	if err := contract.CheckMCPServers(many, contract.MCPHosts{"mcp.example.com"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("17 servers: %v, want Invalid", err)
	}
}
