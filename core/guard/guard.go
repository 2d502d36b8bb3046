// Package guard keeps requests that somebody else chose away from the inside: the metadata service, loopback, private and
// shared networks, and every other address that is not of the public internet.
//
// A name is resolved once, when it is dialled; every address it has is judged, and the connection goes to one of those that
// were judged. So a name that resolves differently a moment later, and a redirect, gain nothing. An operator may list hosts and
// addresses that are the only ones to be asked. The package does not read bodies and bounds no request's time: whoever asks does.
package guard

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Blocked is the reason of every fault.Denied of this package.
const Blocked = "outbound_blocked"

// DefaultRedirects is how many redirects are followed.
const DefaultRedirects = 5

// Guard says where requests may go. The zero value lets them go to every public host, by https on port 443. A Guard is a value,
// safe for concurrent use.
type Guard struct {
	// Allow lists what may be asked, and nothing else then may: a host ("api.example.com"), hosts under a name
	// ("*.example.com"), every public host ("*"), or addresses ("10.1.2.3", "10.1.0.0/16", "::1"). Each may have a port of its
	// own ("api.example.com:8443", "127.0.0.1:*", "[::1]:8080"), but for addresses in a range, which have all; and "http://"
	// before it to be asked without TLS too. A name that is listed is still refused where it resolves to an address that is
	// neither public nor listed. Empty: every public host.
	Allow []string

	Plain     bool // http too, on port 80; else https only
	Redirects int  // that are followed; 0: DefaultRedirects, negative: none

	Lookup Lookup // nil: net.DefaultResolver
}

// Lookup resolves a name to all its addresses. It must be safe for concurrent use.
type Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// Validate reports entries of Allow that cannot be understood. Faults: Invalid.
func (g Guard) Validate() error {
	_, err := g.policy()
	return err
}

// Check judges a URL by its look, without resolving anything: scheme, form of the host, port, and the list. What it lets pass
// may still be refused when it is dialled. Faults: Denied, Invalid (no URL, or a bad entry of Allow).
func (g Guard) Check(u *url.URL) error {
	p, err := g.policy()
	if err != nil {
		return err
	}
	return p.check(u)
}

// Client asks through the guard. It follows at most Redirects redirects, judges each as it judges the first request, and takes
// everything secret off a request that is sent on to another host. It heeds no proxy of the environment, sets no time limit and
// keeps connections: call CloseIdleConnections when it is not needed any more.
//
// Faults inside its errors: Denied (reason Blocked), Invalid (a bad entry of Allow).
func (g Guard) Client() *http.Client {
	p, err := g.policy()
	if err != nil {
		return &http.Client{Transport: broken{err}}
	}
	base := &http.Transport{
		DialContext: p.dial, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 * 1024,
	}
	return &http.Client{Transport: guarded{p, base}, CheckRedirect: p.redirect}
}

// Dial connects to an address of the form host:port as Client does: for clients of other protocols. Faults: Denied (reason
// Blocked), Unavailable (no such name, nobody answers), Invalid (the address, or a bad entry of Allow).
func (g Guard) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	p, err := g.policy()
	if err != nil {
		return nil, err
	}
	return p.dial(ctx, network, address)
}

// guarded judges each request, those of redirects too, before the transport sees it.
type guarded struct {
	policy policy
	base   *http.Transport
}

// RoundTrip sends the request if it may be sent.
func (t guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.policy.check(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return t.base.RoundTrip(r)
}

// CloseIdleConnections makes http.Client's method of the name work.
func (t guarded) CloseIdleConnections() { t.base.CloseIdleConnections() }

// broken refuses everything: the list is not to be understood.
type broken struct{ err error }

func (b broken) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return nil, b.err
}

// check is Guard.Check.
func (p policy) check(u *url.URL) error {
	if u == nil || u.Host == "" {
		return fault.New(fault.Invalid, "the URL has no host")
	}
	port := u.Port()
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return blocked("URLs of the scheme %q may not be asked", u.Scheme)
	case u.Scheme == "http" && !p.plain && !p.somePlain():
		return blocked("only https URLs may be asked")
	case u.Scheme == "https" && port == "":
		port = "443"
	case port == "":
		port = "80"
	}
	if u.User != nil {
		return blocked("the URL must not hold a user or password")
	}
	_, err := p.target(u.Hostname(), port, u.Scheme == "http")
	return err
}

// redirect judges the form of a redirect. What is sent on to another host goes without what the first host was trusted with.
func (p policy) redirect(r *http.Request, via []*http.Request) error {
	if len(via) > p.redirects {
		return blocked("the answer is a redirect, and %d have been followed", len(via)-1)
	}
	first := via[0].URL
	elsewhere := !sameHost(first, r.URL)
	for _, v := range via {
		elsewhere = elsewhere || !sameHost(first, v.URL)
	}
	if !elsewhere {
		return nil
	}
	if r.Body != nil && r.Body != http.NoBody {
		return blocked("the answer is a redirect of a request with a body to another host, %s", r.URL.Hostname())
	}
	for name := range r.Header {
		switch name {
		case "Accept", "Accept-Encoding", "Accept-Language", "User-Agent":
		default:
			r.Header.Del(name)
		}
	}
	return nil
}

func sameHost(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && a.Port() == b.Port()
}

// dial connects to one of the addresses that host has and that were all judged.
func (p policy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "address of the host")
	}
	t, err := p.target(host, port, false) // with or without TLS was judged when the request was
	if err != nil {
		return nil, err
	}
	addrs, err := p.addresses(ctx, t)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	for _, a := range addrs {
		var conn net.Conn
		if conn, err = dialer.DialContext(ctx, network, netip.AddrPortFrom(a, t.port).String()); err == nil {
			return conn, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fault.Wrap(fault.Unavailable, err, "connect to %s", t.host)
}

// addresses are where t may be reached, IPv4 first. One address that is refused refuses them all.
func (p policy) addresses(ctx context.Context, t target) ([]netip.Addr, error) {
	addrs := []netip.Addr{t.addr}
	if !t.addr.IsValid() {
		found, err := p.lookup(ctx, t.host)
		if err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "look up %s", t.host)
		}
		addrs = found
	}
	var v4, v6 []netip.Addr
	for _, a := range addrs {
		a = a.Unmap()
		switch {
		case !p.mayDial(a, t.port):
			return nil, blocked("%s is not a public host", t.host)
		case a.Is4():
			v4 = append(v4, a)
		default:
			v6 = append(v6, a)
		}
	}
	if len(v4)+len(v6) == 0 {
		return nil, fault.New(fault.Unavailable, "look up %s: it has no address", t.host)
	}
	return append(v4, v6...), nil
}

func blocked(format string, args ...any) error {
	return fault.New(fault.Denied, format, args...).Because(Blocked)
}
