package mcp

import (
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/guard"
)

// transport gives the way out, and what ends its connections: no other host than an allowed one, and none whose name leads inside,
// is dialled. Connections that rest are given up after 30 s by the wall clock: a process that was frozen meanwhile must not
// write to one that the server has closed.
func (d Dialer) transport() (http.RoundTripper, func()) {
	if d.Transport != nil {
		return d.Transport, func() {}
	}
	t := &http.Transport{
		DialContext: guarded(d.AllowedHosts).Dial, ForceAttemptHTTP2: true, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: d.ConnectTimeout, MaxResponseHeaderBytes: 64 << 10,
	}
	return t, t.CloseIdleConnections
}

// guarded is the guard for allowed hosts. A host without a port has them all; an address or range of addresses on the list is one to
// which names may lead; a loopback host that plain http may go to is loopback itself.
func guarded(hosts contract.MCPHosts) guard.Guard {
	g := guard.Guard{Allow: []string{"mcp.invalid"}} // an empty list would be every public host
	for _, entry := range hosts {
		if address, plain := strings.CutPrefix(entry, "http://"); plain {
			g.Plain = true
			_, port, _ := net.SplitHostPort(address)
			g.Allow = append(g.Allow, address, "127.0.0.1:"+port, "[::1]:"+port)
			continue
		}
		if _, _, err := net.SplitHostPort(entry); err != nil && !strings.Contains(entry, "/") {
			entry += ":*"
		}
		g.Allow = append(g.Allow, entry)
	}
	return g
}
