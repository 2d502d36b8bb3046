package guard_test

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"testing"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/guard"
)

// public judges an address by other means than the guard: the embedded IPv4 address of every known form counts.
func public(a netip.Addr) bool {
	a = a.Unmap()
	b := a.As16()
	v4 := netip.AddrFrom4([4]byte(b[12:]))
	switch {
	case a.Zone() != "", a.IsLoopback(), a.IsPrivate(), a.IsLinkLocalUnicast(), a.IsMulticast(), a.IsUnspecified():
		return false
	case a.Is4():
		return !netip.MustParsePrefix("100.64.0.0/10").Contains(a) && !netip.MustParsePrefix("0.0.0.0/8").Contains(a) && a.As4()[0] < 224
	case netip.MustParsePrefix("64:ff9b::/32").Contains(a), netip.MustParsePrefix("::/32").Contains(a):
		return false
	case netip.MustParsePrefix("2002::/16").Contains(a):
		return public(netip.AddrFrom4([4]byte(b[2:6]))) && public(v4)
	}
	return true
}

// FuzzCheck: no URL that is let through names an address of the inside.
func FuzzCheck(f *testing.F) {
	for _, tc := range hostile {
		f.Add(tc.url)
	}
	f.Add("https://example.com/a?b#c")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil || (guard.Guard{Plain: true}).Check(u) != nil {
			return
		}
		if u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
			t.Errorf("%q was let through", text)
		}
		if port := u.Port(); port != "" && port != "80" && port != "443" {
			t.Errorf("%q was let through with its port", text)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && !public(a) {
			t.Errorf("%q was let through: %v is not public", text, a)
		}
		if ip := net.ParseIP(u.Hostname()); ip != nil && (ip.IsLoopback() || ip.IsPrivate()) {
			t.Errorf("%q was let through: %v", text, ip)
		}
	})
}

// FuzzDial: whatever a name resolves to, none but public addresses are dialled.
func FuzzDial(f *testing.F) {
	for _, a := range []string{"127.0.0.1", "93.184.215.14", "::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2606:4700::1111", "2002:7f00:1::"} {
		f.Add(netip.MustParseAddr(a).AsSlice())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		addr, ok := netip.AddrFromSlice(raw)
		if !ok {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		g := guard.Guard{Lookup: func(context.Context, string) ([]netip.Addr, error) {
			cancel() // what is not refused must not be dialled in earnest
			return []netip.Addr{addr}, nil
		}}
		conn, err := g.Dial(ctx, "tcp", "fuzz.example.com:443")
		if err == nil {
			_ = conn.Close()
			t.Fatalf("%v was dialled", addr)
		}
		if !public(addr) && !fault.Is(err, fault.Denied) {
			t.Errorf("%v: %v, want it blocked", addr, err)
		}
	})
}
