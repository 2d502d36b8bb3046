package tool_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/guard"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// answer is what http_request gives.
type answer struct {
	Status    int
	Headers   map[string]string
	Body      string
	Truncated string
}

// request calls http_request and reads its result as the model would.
func request(t *testing.T, h tool.HTTPRequest, input string) (answer, error) {
	t.Helper()
	out, err := tool.Limit(h, 0).Call(tool.Context{Context: t.Context()}, json.RawMessage(input))
	if err != nil {
		return answer{}, err
	}
	parts, err := tool.Content(out)
	if err != nil || len(parts) != 1 || parts[0].JSON == nil {
		t.Fatalf("result = %v, %v, want one JSON part", parts, err)
	}
	var a answer
	if err := json.Unmarshal(parts[0].JSON, &a); err != nil {
		t.Fatal(err)
	}
	return a, nil
}

// reaching lets the server of a test be asked.
func reaching(server *httptest.Server) tool.HTTPRequest {
	return tool.HTTPRequest{AllowHosts: []string{"http://" + server.Listener.Addr().String()}}
}

func TestHTTPRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Date", "today")
		if r.URL.Path == "/none" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, r.Method+" "+r.URL.RawQuery+" "+r.Header.Get("X-Key")+" "+r.UserAgent()+" "+string(body))
	}))
	defer server.Close()
	headers := map[string]string{"content-type": "text/plain", "date": "today"}
	tests := []struct {
		name, input string
		want        answer
	}{
		{"GET by default", `{"url":"` + server.URL + `/?q=1"}`, answer{200, headers, "GET q=1  steadfast-agent ", ""}},
		{"POST with a header and a body", `{"url":"` + server.URL + `","method":"POST","headers":{"x-key":"k","user-agent":"me"},"body":"hello"}`, answer{200, headers, "POST  k me hello", ""}},
		{"a status is no failure", `{"url":"` + server.URL + `/none","method":"DELETE","timeout":5}`, answer{404, headers, "DELETE   steadfast-agent ", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := request(t, reaching(server), tt.input)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("Call = %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// headers writes n of them.
func headers(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"x-%d":"v"`, i))
	}
	return strings.Join(all, ",")
}

func TestHTTPRequestRefuses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("a request arrived: %v", r.Header) }))
	defer server.Close()
	url := `"url":"` + server.URL + `"`
	tests := []struct {
		name, input string
		code        fault.Code
	}{
		{"no URL", `{"url":"example.com"}`, fault.Invalid},
		{"another method", `{` + url + `,"method":"CONNECT"}`, fault.Invalid},
		{"the header of the host", `{` + url + `,"headers":{"host":"internal"}}`, fault.Invalid},
		{"a header that smuggles", `{` + url + `,"headers":{"x":"a\r\nHost: b"}}`, fault.Invalid},
		{"a name that smuggles", `{` + url + `,"headers":{"x\r\ny":"a"}}`, fault.Invalid},
		{"transfer encoding", `{` + url + `,"headers":{"transfer-encoding":"chunked"}}`, fault.Invalid},
		{"many headers", `{` + url + `,"headers":{` + headers(33) + `}}`, fault.Invalid},
		{"a long body", `{` + url + `,"method":"POST","body":"` + strings.Repeat("x", 257*1024) + `"}`, fault.Invalid},
		{"the inside", `{"url":"http://169.254.169.254/latest/meta-data/"}`, fault.Denied},
		{"another host than those allowed", `{"url":"https://93.184.215.14/"}`, fault.Denied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := request(t, reaching(server), tt.input); !fault.Is(err, tt.code) {
				t.Errorf("Call = %+v, %v, want %s", got, err, tt.code)
			}
		})
	}
}

// TestP31HTTPRequest: by default nothing of the inside can be asked, and a redirect leads nowhere either; the answer says nothing of
// what a name resolves to.
func TestP31HTTPRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	}))
	defer server.Close()
	loop := tool.HTTPRequest{Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("10.20.30.40")}, nil
	}}
	for name, call := range map[string]func() (answer, error){
		"loopback": func() (answer, error) { return request(t, tool.HTTPRequest{}, `{"url":"`+server.URL+`"}`) },
		"redirect": func() (answer, error) { return request(t, reaching(server), `{"url":"`+server.URL+`"}`) },
		"a name":   func() (answer, error) { return request(t, loop, `{"url":"https://inside.example.com/"}`) },
	} {
		got, err := call()
		if !fault.Is(err, fault.Denied) || fault.ReasonOf(err) != guard.Blocked || strings.Contains(err.Error(), "10.20.30.40") {
			t.Errorf("%s: Call = %+v, %v, want it blocked", name, got, err)
		}
	}
}

// TestHTTPRequestsThatRunOnce: what HTTP does not call idempotent.
func TestHTTPRequestsThatRunOnce(t *testing.T) {
	spec := tool.HTTPRequest{}.Spec()
	for input, want := range map[string]bool{
		`{"url":"https://a.example.com"}`: false, `{"method":"GET"}`: false, `{"method":"PUT"}`: false, `{"method":"DELETE"}`: false,
		`{"method":"POST"}`: true, `{"method":"PATCH"}`: true, `{"method":7}`: false, `no JSON`: false,
	} {
		if got := spec.RunsOnce(json.RawMessage(input)); got != want {
			t.Errorf("RunsOnce(%s) = %t", input, got)
		}
	}
	if other := tool.Once(tool.GetCurrentTime{}).Spec(); !other.RunsOnce(nil) || (tool.GetCurrentTime{}).Spec().RunsOnce(nil) {
		t.Error("the mark alone counts for other tools")
	}
}

func TestHTTPRequestEnvironment(t *testing.T) {
	t.Setenv("HTTP_ALLOWED_HOSTS", " api.example.com , ,*.example.org ")
	if diff := cmp.Diff([]string{"api.example.com", "*.example.org"}, tool.HTTPRequest{}.Guard().Allow); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	if _, err := request(t, tool.HTTPRequest{}, `{"url":"https://93.184.215.14/"}`); !fault.Is(err, fault.Denied) {
		t.Errorf("a host that is not listed: %v", err)
	}
	t.Setenv("HTTP_ALLOWED_HOSTS", "https://api.example.com")
	if err := tool.Builtin().Validate(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), `http_request`) {
		t.Errorf("a list that means nothing: %v", err)
	}
	t.Setenv("HTTP_ALLOWED_HOSTS", "")
	if got := (tool.HTTPRequest{}).Guard().Allow; got != nil {
		t.Errorf("hosts = %v, want none", got)
	}
}

func TestP27LongAnswers(t *testing.T) {
	long := strings.Repeat("😀", 1_300_000) // 5.2 MB
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/text":
			_, _ = io.WriteString(w, "begin"+long+"end")
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `"ab`+long+`"`)
		case "/quotes":
			_, _ = io.WriteString(w, strings.Repeat(`"\`, 30_000))
		case "/latin":
			w.Header().Set("Content-Type", "text/html; charset=ISO-8859-1")
			_, _ = w.Write([]byte("caf\xe9"))
		case "/binary":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte("\x89PNG\r\n\x1a\n\x00\x00"))
		case "/broken":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
		}
	}))
	defer server.Close()
	get := func(path string, max int64) answer {
		h := reaching(server)
		h.MaxBytes = max
		got, err := request(t, h, `{"url":"`+server.URL+path+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	text := get("/text", 0)
	if !strings.HasPrefix(text.Body, "begin😀") || !strings.Contains(text.Body, "bytes cut") || !utf8.ValidString(text.Body) || text.Truncated != "the answer is longer than 1048576 bytes" || len(text.Body) < 20_000 {
		t.Errorf("5 MB of text: %d bytes, %q, begins %.20q", len(text.Body), text.Truncated, text.Body)
	}
	if whole := get("/text", 10_000_000); !strings.HasSuffix(whole.Body, "😀end") || whole.Truncated != "the middle of the body was cut" {
		t.Errorf("5 MB of text, read whole: %q, ends %.20q", whole.Truncated, whole.Body[len(whole.Body)-20:])
	}
	if json := get("/json", 0); !strings.HasPrefix(json.Body, `"ab😀`) || !utf8.ValidString(json.Body) {
		t.Errorf("5 MB of JSON, cut within a character: begins %.40q", json.Body)
	}
	if quotes := get("/quotes", 0); len(quotes.Body) < 5_000 {
		t.Errorf("text that grows as JSON: %d bytes are left", len(quotes.Body))
	}
	for path, want := range map[string]answer{
		"/latin": {Body: "café"}, "/binary": {Body: "[10 bytes of image/png left out]"}, "/broken": {Body: "half", Truncated: "the answer broke off"},
	} {
		if got := get(path, 0); got.Body != want.Body || got.Truncated != want.Truncated {
			t.Errorf("%s = %q, %q", path, got.Body, got.Truncated)
		}
	}
}

func TestHTTPRequestWaits(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	h := reaching(server)
	h.Timeout = 20 * time.Millisecond
	_, err := request(t, h, `{"url":"`+server.URL+`","timeout":1e300}`)
	if !fault.Is(err, fault.Unavailable) || fault.ReasonOf(err) != "http_timeout" {
		t.Errorf("a server that hangs: %v", err)
	}
	h.Timeout = time.Hour
	if _, err = request(t, h, `{"url":"`+server.URL+`","timeout":0.02}`); fault.ReasonOf(err) != "http_timeout" {
		t.Errorf("a server that hangs, the model's own limit: %v", err)
	}
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := h.Call(tool.Context{Context: ctx}, json.RawMessage(`{"url":"`+server.URL+`"}`)); !errors.Is(err, stop) {
		t.Errorf("a run that was stopped: %v", err)
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	h.AllowHosts = []string{"http://" + nobody.Addr().String()}
	if _, err := request(t, h, `{"url":"http://`+nobody.Addr().String()+`"}`); fault.ReasonOf(err) != "http_failed" {
		t.Errorf("nobody answers: %v", err)
	}
}

// TestHTTPRequestsAreBounded: what is small on the line and large when it is unpacked, and an answer that never ends.
func TestHTTPRequestsAreBounded(t *testing.T) {
	var bomb bytes.Buffer
	packer := gzip.NewWriter(&bomb)
	for range 4 {
		_, _ = packer.Write(bytes.Repeat([]byte("boom "), 1<<20))
	}
	_ = packer.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if r.URL.Path == "/bomb" {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
			return
		}
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "drop ")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}))
	defer server.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := request(t, reaching(server), `{"url":"`+server.URL+`/bomb"}`)
	runtime.ReadMemStats(&after)
	if err != nil || !strings.HasPrefix(got.Body, "boom boom ") || got.Truncated != "the answer is longer than 1048576 bytes" {
		t.Errorf("20 MB in %d bytes: %.20q, %q, %v", bomb.Len(), got.Body, got.Truncated, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 40<<20 {
		t.Errorf("it took %d bytes of memory", took)
	}
	h := reaching(server)
	for h.Timeout = 200 * time.Millisecond; ; h.Timeout *= 2 { // a machine with much to do may need more for the first drop
		got, err = request(t, h, `{"url":"`+server.URL+`/drip"}`)
		if fault.ReasonOf(err) != "http_timeout" || h.Timeout > 20*time.Second {
			break
		}
	}
	if err != nil || !strings.HasPrefix(got.Body, "drop ") || got.Truncated != "the answer broke off" {
		t.Errorf("an answer without an end: %.20q, %q, %v", got.Body, got.Truncated, err)
	}
}

// TestNoProxyIsHeeded: a proxy would be asked for addresses that nobody has judged.
func TestNoProxyIsHeeded(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the proxy is asked for %s", r.URL) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	nobody := tool.HTTPRequest{AllowHosts: []string{"http://tool.example.com", proxy.Listener.Addr().String()}, Timeout: time.Second,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
		}}
	if _, err := request(t, nobody, `{"url":"http://tool.example.com/"}`); !fault.Is(err, fault.Denied) {
		t.Errorf("a name of the inside: %v, want it blocked", err)
	}
}
