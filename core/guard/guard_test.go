package guard_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/guard"
)

// resolver answers from a list. A name that is not there does not exist.
type resolver map[string]string

func (r resolver) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	list, ok := r[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var addrs []netip.Addr
	for one := range strings.FieldsSeq(list) {
		addrs = append(addrs, netip.MustParseAddr(one))
	}
	return addrs, nil
}

// hostile are URLs that reach for the inside. Where a name matters, names says what it resolves to.
var hostile = []struct{ name, url, names string }{
	{"loopback", "https://127.0.0.1/", ""},
	{"loopback, elsewhere in the range", "https://127.8.9.10/", ""},
	{"loopback v6", "https://[::1]/", ""},
	{"loopback v6, long", "https://[0:0:0:0:0:0:0:1]/", ""},
	{"unspecified", "https://0.0.0.0/", ""},
	{"unspecified v6", "https://[::]/", ""},
	{"this network", "https://0.1.2.3/", ""},
	{"private 10", "https://10.0.0.1/", ""},
	{"private 172", "https://172.16.0.1/", ""},
	{"private 172, last", "https://172.31.255.255/", ""},
	{"private 192", "https://192.168.1.1/", ""},
	{"carrier-grade NAT", "https://100.64.0.1/", ""},
	{"carrier-grade NAT, last", "https://100.127.255.255/", ""},
	{"metadata in a shared range", "https://100.100.100.200/latest/meta-data/", ""},
	{"metadata", "https://169.254.169.254/latest/meta-data/", ""},
	{"metadata over http", "http://169.254.169.254/latest/meta-data/", ""},
	{"container credentials", "https://169.254.170.2/v2/credentials", ""},
	{"link-local", "https://169.254.0.1/", ""},
	{"metadata v6", "https://[fd00:ec2::254]/latest/meta-data/", ""},
	{"metadata, another platform", "https://192.0.0.192/", ""},
	{"metadata, public range", "https://168.63.129.16/", ""},
	{"protocol assignments", "https://192.0.0.1/", ""},
	{"documentation", "https://192.0.2.1/", ""},
	{"benchmarking", "https://198.18.0.1/", ""},
	{"multicast", "https://224.0.0.1/", ""},
	{"reserved", "https://240.0.0.1/", ""},
	{"broadcast", "https://255.255.255.255/", ""},
	{"relay anycast", "https://192.88.99.1/", ""},
	{"unique local v6", "https://[fc00::1]/", ""},
	{"link-local v6", "https://[fe80::1]/", ""},
	{"link-local v6 with a zone", "https://[fe80::1%25eth0]/", ""},
	{"public v6 with a zone", "https://[2606:4700::1111%25eth0]/", ""},
	{"site-local v6", "https://[fec0::1]/", ""},
	{"multicast v6", "https://[ff02::1]/", ""},
	{"documentation v6", "https://[2001:db8::1]/", ""},
	{"mapped loopback", "https://[::ffff:127.0.0.1]/", ""},
	{"mapped loopback, hex", "https://[::ffff:7f00:1]/", ""},
	{"mapped metadata", "https://[::ffff:169.254.169.254]/", ""},
	{"mapped private", "https://[::ffff:10.0.0.1]/", ""},
	{"compatible loopback", "https://[::127.0.0.1]/", ""},
	{"translated loopback", "https://[::ffff:0:127.0.0.1]/", ""},
	{"NAT64 loopback", "https://[64:ff9b::127.0.0.1]/", ""},
	{"NAT64 metadata", "https://[64:ff9b::a9fe:a9fe]/", ""},
	{"NAT64 of one's own", "https://[64:ff9b:1::a9fe:a9fe]/", ""},
	{"6to4 loopback", "https://[2002:7f00:1::]/", ""},
	{"6to4 metadata", "https://[2002:a9fe:a9fe::1]/", ""},
	{"Teredo", "https://[2001:0:a9fe:a9fe::1]/", ""},
	{"discard", "https://[100::1]/", ""},
	{"decimal", "https://2130706433/", ""},
	{"decimal metadata", "https://2852039166/", ""},
	{"octal", "https://0177.0.0.1/", ""},
	{"octal, one number", "https://017700000001/", ""},
	{"hex", "https://0x7f000001/", ""},
	{"hex in parts", "https://0x7f.0x0.0x0.0x1/", ""},
	{"hex at the end", "https://127.0.0.0x1/", ""},
	{"short", "https://127.1/", ""},
	{"short, three parts", "https://127.0.1/", ""},
	{"zeros before", "https://127.000.000.001/", ""},
	{"dot after the address", "https://127.0.0.1./", ""},
	{"full-width digits", "https://１２７.0.0.1/", ""},
	{"circled digits", "https://①②⑦.⓪.⓪.①/", ""},
	{"ideographic full stop", "https://127。0。0。1/", ""},
	{"address for user", "https://example.com@127.0.0.1/", ""},
	{"user and password", "https://user:pass@public.example.com/", "public.example.com=93.184.215.14"},
	{"user looks like a host", "https://public.example.com%2f@169.254.169.254/", ""},
	{"localhost", "https://localhost/", "localhost=127.0.0.1"},
	{"localhost, dot", "https://localhost./", "localhost=127.0.0.1"},
	{"localhost in capitals", "https://LocalHost/", "localhost=127.0.0.1"},
	{"under localhost", "https://a.localhost/", "a.localhost=127.0.0.1"},
	{"internal name", "https://metadata.google.internal/", "metadata.google.internal=169.254.169.254"},
	{"name without a dot", "https://intranet/", "intranet=93.184.215.14"},
	{"name of loopback", "https://loop.example.com/", "loop.example.com=127.0.0.1"},
	{"name of loopback v6", "https://loop6.example.com/", "loop6.example.com=::1"},
	{"name of metadata", "https://meta.example.com/", "meta.example.com=169.254.169.254"},
	{"name of metadata, dot", "https://meta.example.com./", "meta.example.com=169.254.169.254"},
	{"name of mapped metadata", "https://mapped.example.com/", "mapped.example.com=::ffff:169.254.169.254"},
	{"name of NAT64 metadata", "https://nat.example.com/", "nat.example.com=64:ff9b::a9fe:a9fe"},
	{"one public and one private address", "https://both.example.com/", "both.example.com=93.184.215.14 10.0.0.1"},
	{"one private and one public address", "https://both.example.com/", "both.example.com=fd00::1 93.184.215.14"},
	{"wildcard name of an address", "https://127.0.0.1.nip.example.com/", "127.0.0.1.nip.example.com=127.0.0.1"},
	{"port of a mail server", "https://public.example.com:25/", "public.example.com=93.184.215.14"},
	{"port of a database", "https://93.184.215.14:6379/", ""},
	{"port 0", "https://93.184.215.14:0/", ""},
	{"file", "file://public.example.com/etc/passwd", ""},
	{"gopher", "gopher://public.example.com:443/", ""},
	{"plain http", "http://public.example.com/", "public.example.com=93.184.215.14"},
}

func names(list string) resolver {
	name, addrs, _ := strings.Cut(list, "=")
	return resolver{name: addrs}
}

// TestP31HostileAddresses: by the look of the URL or by what the name resolves to when it is dialled, none is asked.
func TestP31HostileAddresses(t *testing.T) {
	if len(hostile) < 60 {
		t.Fatalf("%d addresses", len(hostile))
	}
	for _, tc := range hostile {
		t.Run(tc.name, func(t *testing.T) {
			resp, err := (guard.Guard{Lookup: names(tc.names).lookup}).Client().Get(tc.url)
			if err == nil {
				_ = resp.Body.Close()
				t.Fatalf("Get(%s) was answered", tc.url)
			}
			if !fault.Is(err, fault.Denied) || fault.ReasonOf(err) != guard.Blocked {
				t.Errorf("Get(%s) = %v (%s), want it blocked", tc.url, err, fault.CodeOf(err))
			}
		})
	}
}

// TestP31RedirectsToTheInside: a server that may be asked sends on to every hostile address.
func TestP31RedirectsToTheInside(t *testing.T) {
	for _, tc := range hostile {
		if tc.name == "plain http" || tc.name == "metadata over http" {
			continue // refused for the scheme alone, which a server of a test needs
		}
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", tc.url)
				w.WriteHeader(http.StatusFound)
			}))
			defer server.Close()
			g := local(server, "*")
			g.Lookup = names(tc.names).lookup
			client := g.Client()
			defer client.CloseIdleConnections()
			resp, err := client.Get(server.URL)
			if err == nil {
				_ = resp.Body.Close()
				t.Fatalf("the redirect to %s was followed", tc.url)
			}
			// Some are no URLs at all: those end in an error of the client.
			if _, bad := url.Parse(tc.url); bad == nil && !fault.Is(err, fault.Denied) {
				t.Errorf("redirect to %s = %v (%s), want it blocked", tc.url, err, fault.CodeOf(err))
			}
		})
	}
}

// local lets the server of a test be asked, and whatever else is named.
func local(server *httptest.Server, also ...string) guard.Guard {
	return guard.Guard{Allow: append(also, server.Listener.Addr().String()), Plain: true}
}

// TestP31NameThatChanges: what was judged is what is dialled, at every connection.
func TestP31NameThatChanges(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	lookups := 0
	g := guard.Guard{Plain: true, Allow: []string{"*:*"}, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		lookups++
		if lookups == 1 { // public, for whoever asks first; nobody is there
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the first answer would be dialled
	if _, err := g.Dial(ctx, "tcp", "rebind.example.com:"+port); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a public address: %v, want it dialled", err)
	}
	if _, err := g.Client().Get("http://rebind.example.com:" + port); !fault.Is(err, fault.Denied) {
		t.Errorf("loopback: %v, want it blocked", err)
	}
	if lookups != 2 || asked.Load() != 0 {
		t.Errorf("%d lookups, %d requests arrived; want one lookup for each connection and none", lookups, asked.Load())
	}
}

func TestAllowedHosts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	at := resolver{"tool.example.com": "127.0.0.1", "other.example.com": "127.0.0.1", "intranet": "127.0.0.1", "tool.corp.internal": "127.0.0.1"}
	tests := []struct {
		name  string
		allow []string
		host  string
		want  bool
	}{
		{"address and port", []string{"127.0.0.1:" + port}, "127.0.0.1", true},
		{"address, every port", []string{"127.0.0.1"}, "127.0.0.1", true},
		{"address, every port, said", []string{"127.0.0.1:*"}, "127.0.0.1", true},
		{"range", []string{" 127.0.0.0/8 "}, "127.0.0.1", true},
		{"another port", []string{"127.0.0.1:1"}, "127.0.0.1", false},
		{"another address", []string{"127.0.0.2"}, "127.0.0.1", false},
		{"name and address", []string{"tool.example.com:*", "127.0.0.1"}, "tool.example.com", true},
		{"name in capitals, with a dot", []string{"Tool.Example.COM.:*", "127.0.0.1"}, "TOOL.example.com.", true},
		{"names under a name", []string{"*.example.com:*", "127.0.0.1"}, "tool.example.com", true},
		{"a name that means one inside", []string{"intranet:*", "127.0.0.1"}, "intranet", true},
		{"names under one inside", []string{"*.corp.internal:*", "127.0.0.1"}, "tool.corp.internal", true},
		{"a name inside that is not listed", []string{"*:*", "127.0.0.1"}, "tool.corp.internal", false},
		{"name alone, of an address inside", []string{"tool.example.com:*"}, "tool.example.com", false},
		{"name at another port", []string{"tool.example.com", "127.0.0.1"}, "tool.example.com", false},
		{"another name", []string{"tool.example.com:*", "127.0.0.1"}, "other.example.com", false},
		{"the name above", []string{"*.tool.example.com:*", "127.0.0.1"}, "tool.example.com", false},
		{"a name that ends alike", []string{"example.com:*", "127.0.0.1"}, "tool.example.com", false},
		{"everything public", []string{"*:*"}, "127.0.0.1", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			client := (guard.Guard{Allow: tc.allow, Plain: true, Lookup: at.lookup}).Client()
			defer client.CloseIdleConnections()
			resp, err := client.Get("http://" + tc.host + ":" + port)
			if !tc.want {
				if !fault.Is(err, fault.Denied) {
					t.Errorf("Get = %v, want it blocked", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if body, _ := io.ReadAll(resp.Body); string(body) != "hello" {
				t.Errorf("body = %q", body)
			}
		})
	}
}

// TestOneAddressOfMany: where the first address does not answer the next is tried.
func TestOneAddressOfMany(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	g := guard.Guard{Plain: true, Allow: []string{"many.example.com:*", "127.0.0.0/8"}, Lookup: resolver{"many.example.com": "127.0.0.77 127.0.0.1"}.lookup}
	client := g.Client()
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://many.example.com:" + port)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if _, err := client.Get("http://nobody.example.com:" + port); !fault.Is(err, fault.Denied) {
		t.Errorf("a name that is not listed: %v", err)
	}
	g.Allow = nil
	if _, err := g.Client().Get("http://nobody.example.com"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a name that does not exist: %v, want Unavailable", err)
	}
}

func TestRedirects(t *testing.T) {
	var seen []http.Header
	var hops int
	far := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = append(seen, r.Header) }))
	defer far.Close()
	near := httptest.NewServer(nil)
	defer near.Close()
	near.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header)
		switch {
		case r.URL.Path == "/loop":
			hops++
			http.Redirect(w, r, "/loop", http.StatusFound)
		case r.URL.Path == "/far":
			http.Redirect(w, r, far.URL, http.StatusTemporaryRedirect)
		case r.URL.Path == "/near":
			http.Redirect(w, r, "/end?key=secret", http.StatusTemporaryRedirect)
		}
	})
	g := local(near, far.Listener.Addr().String())
	ask := func(method, path, body string) error {
		seen = nil
		r, _ := http.NewRequestWithContext(t.Context(), method, near.URL+path, strings.NewReader(body))
		if body == "" {
			r.Body = nil
		}
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key"} {
			r.Header.Set(name, "secret")
		}
		r.Header.Set("Accept", "text/plain")
		client := g.Client()
		defer client.CloseIdleConnections()
		resp, err := client.Do(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	if err := ask(http.MethodGet, "/near", ""); err != nil || len(seen) != 2 || seen[1].Get("X-Api-Key") != "secret" {
		t.Errorf("redirect on the same host: %v, %v; want the key to stay", err, seen)
	}
	if err := ask(http.MethodGet, "/far", ""); err != nil || len(seen) != 2 {
		t.Fatalf("redirect to another host: %v, %v", err, seen)
	}
	for name := range seen[1] {
		if strings.Contains(strings.Join(seen[1][name], " "), "secret") || name == "Referer" {
			t.Errorf("another host was sent %s: %v", name, seen[1][name])
		}
	}
	if seen[1].Get("Accept") != "text/plain" {
		t.Error("Accept was lost")
	}
	if err := ask(http.MethodPost, "/far", "body"); !fault.Is(err, fault.Denied) || len(seen) != 1 {
		t.Errorf("a body sent on to another host: %v, %d requests", err, len(seen))
	}
	if err := ask(http.MethodGet, "/loop", ""); !fault.Is(err, fault.Denied) || hops != guard.DefaultRedirects+1 {
		t.Errorf("redirects without an end: %v after %d requests", err, hops)
	}
	g.Redirects, hops = -1, 0
	if err := ask(http.MethodGet, "/loop", ""); !fault.Is(err, fault.Denied) || hops != 1 {
		t.Errorf("no redirects: %v after %d requests", err, hops)
	}
}

// TestRedirectBack: a way over another host does not bring the secrets back.
func TestRedirectBack(t *testing.T) {
	var end http.Header
	near := httptest.NewServer(nil)
	defer near.Close()
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, near.URL+"/end", http.StatusFound)
	}))
	defer far.Close()
	near.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			end = r.Header
			return
		}
		http.Redirect(w, r, far.URL, http.StatusFound)
	})
	client := local(near, far.Listener.Addr().String()).Client()
	defer client.CloseIdleConnections()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, near.URL, nil)
	r.Header.Set("X-Api-Key", "secret")
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if end == nil || end.Get("X-Api-Key") != "" {
		t.Errorf("after the way back: %v", end)
	}
}

// TestPlainByEntry: without TLS goes what the list says, and nothing else.
func TestPlainByEntry(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	at := server.Listener.Addr().String()
	for _, tc := range []struct {
		allow []string
		want  bool
	}{{[]string{"http://" + at}, true}, {[]string{"http://127.0.0.1"}, true}, {[]string{"http://127.0.0.0/8"}, true}, {[]string{at}, false}, {[]string{at, "http://a.example.com"}, false}} {
		client := (guard.Guard{Allow: tc.allow}).Client()
		resp, err := client.Get(server.URL)
		if err == nil {
			_ = resp.Body.Close()
		}
		if (err == nil) != tc.want || err != nil && !fault.Is(err, fault.Denied) {
			t.Errorf("%v: Get = %v, want %t", tc.allow, err, tc.want)
		}
		client.CloseIdleConnections()
	}
	for text, want := range map[string]bool{
		"http://a.example.com": true, "http://a.example.com:80/x": true, "https://a.example.com": true, "http://a.example.com:8080": false, "http://b.example.com": false,
	} {
		u, _ := url.Parse(text)
		if err := (guard.Guard{Allow: []string{"http://a.example.com", "b.example.com"}}).Check(u); (err == nil) != want {
			t.Errorf("Check(%s) = %v", text, err)
		}
	}
}

func TestBadLists(t *testing.T) {
	for _, entry := range []string{"", "https://a.example.com", "http://", "a b", "a.example.com:0", "a.example.com:65536", "a.example.com:x", "10.0.0.0/33", "127.1", "*.", "fe80::1%eth0", "*a.example.com"} {
		g := guard.Guard{Allow: []string{"fine.example.com", entry}}
		if err := g.Validate(); !fault.Is(err, fault.Invalid) {
			t.Errorf("Validate(%q) = %v, want Invalid", entry, err)
		}
		if err := g.Check(&url.URL{Scheme: "https", Host: "fine.example.com"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("Check with the list %q = %v, want Invalid", entry, err)
		}
		if _, err := g.Client().Post("https://fine.example.com", "", strings.NewReader("x")); !fault.Is(err, fault.Invalid) {
			t.Errorf("Post with the list %q = %v, want Invalid", entry, err)
		}
	}
	if err := (guard.Guard{Allow: []string{"*", "*.a.example", "a.example:8443", "1.2.3.4", "::1", "[::1]", "[::1]:80", "10.0.0.0/8", "fd00::/8", "a_b:*", "http://a.example:8080"}}).Validate(); err != nil {
		t.Error(err)
	}
	if _, err := (guard.Guard{}).Dial(t.Context(), "tcp", "no port"); !fault.Is(err, fault.Invalid) {
		t.Errorf("Dial without a port = %v", err)
	}
	if err := (guard.Guard{}).Check(nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("Check(nil) = %v", err)
	}
}
