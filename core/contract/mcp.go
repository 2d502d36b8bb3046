package contract

import (
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Limits of a session's MCP servers.
const (
	MaxMCPServers     = 16
	MaxMCPLabelBytes  = 64
	MaxMCPURLBytes    = 2048
	MaxMCPHeaders     = 32       // of one server
	MaxMCPHeaderBytes = 8 * 1024 // of one server's headers, names and values
)

// MCPHosts are the hosts that MCP servers may have; none allows none. An entry is a host, which allows https on any port of it,
// or host:port. An entry such as 10.1.0.0/16 allows no URL by itself: names on the list may lead to these addresses, which else
// must be public. For a developer's own machine an entry may be http:// with a loopback host and a port: then plain http is allowed
// to exactly that address.
type MCPHosts []string

// Check returns an error if an entry can never match. Faults: Invalid.
func (h MCPHosts) Check() error {
	for _, entry := range h {
		if address, plain := strings.CutPrefix(entry, "http://"); plain {
			if host, port, err := net.SplitHostPort(address); err != nil || port == "" || !loopback(host) {
				return fault.New(fault.Invalid, "%q: plain http is for a loopback host with a port only", entry)
			}
			continue
		}
		if _, err := netip.ParsePrefix(entry); err == nil {
			continue
		}
		if u, err := url.Parse("https://" + entry); err != nil || u.Host != entry || strings.Contains(entry, "*") {
			return fault.New(fault.Invalid, "%q: must be a host or host:port", entry)
		}
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Allow parses address and refuses it unless its host is on the list and its scheme is https, or it is a loopback address that is listed
// with http. Faults: Invalid.
func (h MCPHosts) Allow(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case len(address) > MaxMCPURLBytes:
		return nil, fault.New(fault.Invalid, "%d bytes, the limit is %d", len(address), MaxMCPURLBytes)
	case err == nil && u.Scheme == "http" && u.User == nil && slices.Contains(h, "http://"+u.Host) && loopback(u.Hostname()):
		return u, nil
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil:
		return nil, fault.New(fault.Invalid, "must be an https URL")
	}
	for _, entry := range h {
		if strings.EqualFold(entry, u.Host) || strings.EqualFold(entry, u.Hostname()) {
			return u, nil
		}
	}
	return nil, fault.New(fault.Invalid, "host %q is not allowed", u.Host)
}

// CheckMCPServers returns an error for the first server, by label, that may not be used: it is started by a command, its host is not
// allowed, or its headers cannot be sent. Faults: Invalid, naming the field.
func CheckMCPServers(servers map[string]MCPServer, hosts MCPHosts) error {
	if len(servers) > MaxMCPServers {
		return fault.New(fault.Invalid, "mcpServers: %d servers, the limit is %d", len(servers), MaxMCPServers)
	}
	for _, label := range slices.Sorted(maps.Keys(servers)) {
		if err := CheckID("mcpServers: a label", label); err != nil {
			return err
		}
		if len(label) > MaxMCPLabelBytes {
			return fault.New(fault.Invalid, "mcpServers: a label has %d bytes, the limit is %d", len(label), MaxMCPLabelBytes)
		}
		if err := servers[label].Check(hosts); err != nil {
			return fault.New(fault.Invalid, "mcpServers.%s%s", label, fault.Public(err))
		}
	}
	return nil
}

// Check does for one server what CheckMCPServers does for all; its message begins with the field, without the label. Faults: Invalid.
func (s MCPServer) Check(hosts MCPHosts) error {
	if s.Command != "" || len(s.Args) > 0 {
		return fault.New(fault.Invalid, ": servers that are started by a command are not allowed")
	}
	if _, err := hosts.Allow(s.URL); err != nil {
		return fault.New(fault.Invalid, ".url: %s", fault.Public(err))
	}
	return s.checkHeaders()
}

func (s MCPServer) checkHeaders() error {
	size, seen := 0, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		lower := strings.ToLower(name)
		switch {
		case seen[lower]:
			return fault.New(fault.Invalid, ".headers: %q stands there twice", name)
		case !headerName(name):
			return fault.New(fault.Invalid, ".headers: %q is no header's name, or one that the protocol sets", cut(name))
		case !headerValue(s.Headers[name]):
			return fault.New(fault.Invalid, ".headers.%s: must be text on one line", name)
		}
		seen[lower] = true
		size += len(name) + len(s.Headers[name])
	}
	if a := s.AuthHeader; a != nil {
		size += len(a.Name) + len(a.Value)
		if !headerName(a.Name) {
			return fault.New(fault.Invalid, ".authHeader.name: %q is no header's name, or one that the protocol sets", cut(a.Name))
		}
		if a.Value == "" || !headerValue(a.Value) {
			return fault.New(fault.Invalid, ".authHeader.value: must be text on one line")
		}
	}
	if len(s.Headers) > MaxMCPHeaders || size > MaxMCPHeaderBytes {
		return fault.New(fault.Invalid, ".headers: %d headers of %d bytes, the limits are %d and %d",
			len(s.Headers), size, MaxMCPHeaders, MaxMCPHeaderBytes)
	}
	return nil
}

// headerName reports whether name is a token of RFC 9110 and no header that the transport sets itself.
func headerName(name string) bool {
	const token = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if name == "" || strings.Trim(name, token) != "" {
		return false
	}
	switch lower := strings.ToLower(name); lower {
	case "accept", "connection", "content-length", "content-type", "expect", "host", "last-event-id", "te", "trailer",
		"transfer-encoding", "upgrade":
		return false
	default:
		return !strings.HasPrefix(lower, "mcp-") && !strings.HasPrefix(lower, "proxy-")
	}
}

// headerValue reports whether a server reads value as it was written: without control characters and without space around it.
func headerValue(value string) bool {
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	return strings.TrimSpace(value) == value && !strings.ContainsFunc(value, control)
}

// cut keeps a message short whatever stands in the input.
func cut(s string) string { return s[:min(len(s), 64)] }
