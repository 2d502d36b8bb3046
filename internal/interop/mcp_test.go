package interop_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/mcp"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/internal/transcript"
)

// everything is the reference MCP server of the protocol's authors, in TypeScript.
const everything = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"

// mcpServer is the running reference server.
type mcpServer struct {
	port    string
	process *exec.Cmd
}

// startMCP starts the server with one of its transports, on a port of its own, or again on the one it had.
func startMCP(t *testing.T, transport, port string) *mcpServer {
	t.Helper()
	_, err := os.Stat(filepath.Join(program, everything))
	if _, noNode := exec.LookPath("node"); noNode != nil || err != nil {
		if os.Getenv("STEADFAST_INTEROP") == "1" {
			t.Fatal("there is no node, or the reference MCP server is not installed")
		}
		t.Skip("there is no node, or the reference MCP server is not installed: run make test-interop")
	}
	if port == "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ = net.SplitHostPort(l.Addr().String())
		_ = l.Close()
	}
	m := &mcpServer{port: port, process: exec.Command("node", everything, transport)}
	log := &transcript.Transcript{}
	m.process.Dir, m.process.Stdout, m.process.Stderr = program, log, log
	m.process.Env = append(os.Environ(), "PORT="+port, "NODE_NO_WARNINGS=1")
	if err := m.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.stop)
	eventually(t, "the reference server to listen", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return m
}

func (m *mcpServer) stop() {
	if m.process.ProcessState == nil {
		_ = m.process.Process.Kill()
		_ = m.process.Wait()
	}
}

// connect connects to the server's path.
func (m *mcpServer) connect(t *testing.T, path string) *mcp.Servers {
	t.Helper()
	host := "http://127.0.0.1:" + m.port
	s, err := mcp.Dialer{AllowedHosts: contract.MCPHosts{host}}.Connect(t.Context(), map[string]contract.MCPServer{"ref": {URL: host + path}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// ask calls a tool and gives its result as text.
func ask(t *testing.T, s *mcp.Servers, name, input string) string {
	t.Helper()
	found, unknown := tool.Registry(s.Tools()).Pick(name)
	if len(unknown) > 0 {
		t.Fatalf("there is no %s in %v", name, tool.Registry(s.Tools()).Names())
	}
	out, err := found[0].Call(tool.Context{Context: t.Context()}, json.RawMessage(input))
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	for _, p := range out.([]model.ResultPart) {
		fmt.Fprintf(&b, "%s%s\n", p.Text, p.JSON)
	}
	return b.String()
}

// TestReferenceMCPServer: the tools of the reference server, over both of its transports.
func TestReferenceMCPServer(t *testing.T) {
	for transport, path := range map[string]string{"streamableHttp": "/mcp", "sse": "/sse"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			s := startMCP(t, transport, "").connect(t, path)
			if err := tool.Registry(s.Tools()).Validate(); err != nil || len(s.Tools()) < 10 || s.Note() != "" {
				t.Errorf("%d tools, %v, note %q", len(s.Tools()), err, s.Note())
			}
			for _, c := range []struct{ name, input, want string }{
				{"ref__echo", `{"message":"hello"}`, "Echo: hello"},
				{"ref__echo", `{}`, "error: "},
				{"ref__get-sum", `{"a":2,"b":40}`, "42"},
				{"ref__get-tiny-image", `{}`, "[image image/png left out: "},
				{"ref__get-structured-content", `{"location":"Chicago"}`, "temperature"},
				{"ref__get-resource-links", `{"count":2}`, "Resource demo://"},
				{"ref__trigger-long-running-operation", `{"duration":1,"steps":4}`, "Long running operation completed"},
			} {
				contains(t, c.name, ask(t, s, c.name, c.input), c.want)
			}
		})
	}
}

// TestReferenceMCPServerRestarts: the server knows no sessions after it was started again, and says so in its own way.
func TestReferenceMCPServerRestarts(t *testing.T) {
	t.Parallel()
	m := startMCP(t, "streamableHttp", "")
	s := m.connect(t, "/mcp")
	contains(t, "before", ask(t, s, "ref__echo", `{"message":"one"}`), "Echo: one")
	m.stop()
	began := time.Now()
	contains(t, "meanwhile", ask(t, s, "ref__echo", `{"message":"two"}`), "error: the MCP server ref could not be reached")
	if time.Since(began) > 10*time.Second {
		t.Errorf("that took %v", time.Since(began))
	}
	startMCP(t, "streamableHttp", m.port)
	contains(t, "after", ask(t, s, "ref__echo", `{"message":"three"}`), "Echo: three")
}
