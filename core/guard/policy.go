package guard

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// policy is a Guard that has been read.
type policy struct {
	entries   []entry // none: every public host
	plain     bool
	redirects int
	lookup    Lookup
	public    *ssrf.Guardian // knows the registries of special addresses
}

// entry is one line of a list: names or addresses, at one port or at those that fit.
type entry struct {
	name    string       // "api.example.com"; "" with under "": every name
	under   bool         // names below name
	prefix  netip.Prefix // valid: addresses, and no name
	port    uint16       // 0: the schemes' own, or any port if anyPort
	anyPort bool
	plain   bool // without TLS too
}

// azureHost is an address in the public ranges that answers only inside a data centre: its platform's metadata.
const azureHost = "168.63.129.16/32"

func (g Guard) policy() (policy, error) {
	p := policy{
		plain: g.Plain, redirects: g.Redirects, lookup: g.Lookup,
		public: ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork(), ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix(azureHost))),
	}
	if p.redirects == 0 {
		p.redirects = DefaultRedirects
	}
	p.redirects = max(0, p.redirects)
	if p.lookup == nil {
		p.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	for _, text := range g.Allow {
		e, ok := parseEntry(strings.TrimSpace(text))
		if !ok {
			return policy{}, fault.New(fault.Invalid, "allowed hosts: %q is no host and no address", text)
		}
		p.entries = append(p.entries, e)
	}
	return p, nil
}

// parseEntry reads one entry of Guard.Allow.
func parseEntry(text string) (e entry, ok bool) {
	text, e.plain = strings.CutPrefix(text, "http://")
	if prefix, err := netip.ParsePrefix(text); err == nil {
		e.prefix, e.anyPort = prefix.Masked(), true
		return e, true
	}
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text = text[1 : len(text)-1]
	}
	host := text
	if _, err := netip.ParseAddr(text); err != nil {
		var port string
		var hasPort bool
		if host, port, hasPort = cutPort(text); hasPort {
			n, err := strconv.ParseUint(port, 10, 16)
			e.port, e.anyPort = uint16(n), port == "*"
			if !e.anyPort && (err != nil || n == 0) {
				return entry{}, false
			}
		}
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		e.prefix = netip.PrefixFrom(addr, addr.BitLen())
		e.anyPort = e.anyPort || e.port == 0
		return e, true
	}
	if host == "*" {
		e.under = true
		return e, true
	}
	e.name, e.under = strings.CutPrefix(host, "*.")
	e.name = canonical(e.name)
	return e, validName(e.name) && !endsInNumber(e.name)
}

// cutPort splits "host:port" and "[v6]:port".
func cutPort(text string) (host, port string, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, "", false
	}
	return strings.Trim(text[:i], "[]"), text[i+1:], true
}

// canonical is a host name in lower case without the dot at its end.
func canonical(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// target is where a request wants to go: a name, or an address.
type target struct {
	host string
	addr netip.Addr // not valid: host is a name
	port uint16
}

// target judges host and port without looking the name up. plain: the request goes without TLS.
func (p policy) target(host, port string, plain bool) (target, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return target{}, blocked("the port %q may not be asked", port)
	}
	t := target{host: canonical(host), port: uint16(n)}
	if addr, err := netip.ParseAddr(t.host); err == nil {
		t.addr = addr.Unmap()
		if addr.Zone() != "" || !p.mayDial(t.addr, t.port) {
			return t, blocked("%s is not a public host", t.host)
		}
		if !p.listed(t, plain) {
			return t, blocked("%s is not among the hosts that may be asked", t.host)
		}
		return t, nil
	}
	switch {
	case !validName(t.host), endsInNumber(t.host):
		return t, blocked("%q is not the name of a host; one with other letters than a to z is written with xn--", host)
	case !p.listed(t, plain):
		return t, blocked("%s is not among the hosts that may be asked", t.host)
	case !p.named(t) && inside(t.host):
		return t, blocked("%s is not a public host", t.host)
	}
	return t, nil
}

// listed reports whether the list, if there is one, has the target, at its port and with or without TLS.
func (p policy) listed(t target, plain bool) bool {
	if len(p.entries) == 0 {
		return t.port == 443 || t.port == 80 && p.plain
	}
	return slices.ContainsFunc(p.entries, func(e entry) bool {
		if !p.atPort(e, t.port) || plain && !e.plain && !p.plain {
			return false
		}
		if t.addr.IsValid() {
			return e.prefix.Contains(t.addr) || e.under && e.name == "" // mayDial has judged the address
		}
		return e.names(t.host) || e.under && e.name == ""
	})
}

// somePlain reports whether anything may be asked without TLS.
func (p policy) somePlain() bool {
	return slices.ContainsFunc(p.entries, func(e entry) bool { return e.plain })
}

// named reports whether the list names the host, or a name above it: the operator means it, wherever it is.
func (p policy) named(t target) bool {
	return slices.ContainsFunc(p.entries, func(e entry) bool { return e.names(t.host) })
}

// names reports whether the entry is one of a name which host has or is under.
func (e entry) names(host string) bool {
	switch {
	case e.name == "":
		return false
	case e.under:
		return strings.HasSuffix(host, "."+e.name)
	}
	return host == e.name
}

// mayDial judges an address: public, or listed as one.
func (p policy) mayDial(a netip.Addr, port uint16) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	if p.public.SafeAddr(a) == nil {
		return true
	}
	return slices.ContainsFunc(p.entries, func(e entry) bool { return e.prefix.Contains(a) && p.atPort(e, port) })
}

func (p policy) atPort(e entry, port uint16) bool {
	return e.anyPort || e.port == port || e.port == 0 && (port == 443 || port == 80 && (e.plain || p.plain))
}

// inside reports whether a name can only be one of a network of one's own.
func inside(host string) bool {
	if !strings.Contains(host, ".") {
		return true
	}
	for _, domain := range []string{".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa", ".onion"} {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// validName reports whether host consists of labels of letters, digits, - and _, 253 bytes at most.
func validName(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notInName) {
			return false
		}
	}
	return true
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// endsInNumber reports whether resolvers may read host as an IPv4 address in another form: 0177.1, 2130706433, 0x7f.1.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	digits, hex := strings.CutPrefix(last, "0x")
	return strings.Trim(digits, "0123456789") == "" || hex && strings.Trim(digits, "0123456789abcdef") == ""
}
