package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/guard"
)

// The defaults of HTTPRequest.
const (
	DefaultHTTPBytes   = 1 << 20 // of an answer's body that are read
	DefaultHTTPTimeout = 30 * time.Second
)

// Limits of what the model may send.
const (
	maxHTTPBody    = 256 * 1024
	maxHTTPHeaders = 32
)

// HTTPRequest is the built-in tool http_request: one request to a public host, by https, through core/guard. The zero value is
// ready. It is offered only where it is named (see ByName): whoever may talk to the agent may have it send what it knows.
//
// A request that is refused, fails or takes too long is an error the model reads; an answer of any status is a result. A request
// is never repeated here: it may have had its effect. After a crash a POST or PATCH is not sent again, as a tool marked Once is not.
type HTTPRequest struct {
	AllowHosts []string      // as guard.Guard.Allow; nil: HTTP_ALLOWED_HOSTS, separated by commas; none: every public host
	MaxBytes   int64         // of an answer's body; 0: DefaultHTTPBytes
	Timeout    time.Duration // of the whole request; 0: DefaultHTTPTimeout. The model may ask for less
	Lookup     guard.Lookup  // how names are resolved; nil: the host's resolver
}

type httpRequestIn struct {
	URL     string            `json:"url" jsonschema:"an https URL"`
	Method  string            `json:"method" enum:"GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS" default:"GET"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty" jsonschema:"sent as it is; set content-type among the headers"`
	Timeout float64           `json:"timeout,omitempty" jsonschema:"seconds"`
}

type httpRequestOut struct {
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers"`
	Body      string            `json:"body"`
	Truncated string            `json:"truncated,omitempty"`
}

// Spec describes the tool. A list of hosts that cannot be understood is its Err, so that a host does not begin with it.
func (h HTTPRequest) Spec() Spec { return h.typed().Spec() }

// Call sends the request. Faults: Denied (reason guard.Blocked), Invalid (the URL, a header, a body that is too long),
// Unavailable (reason "http_timeout" or "http_failed").
func (h HTTPRequest) Call(ctx Context, input json.RawMessage) (any, error) {
	return h.typed().Call(ctx, input)
}

func (h HTTPRequest) typed() Tool {
	err := h.Guard().Validate()
	return marked{h.plain(), func(s *Spec) {
		s.ByName, s.OnceFor = true, repeats
		if s.Err == nil && err != nil {
			s.Err = err
		}
	}}
}

func (h HTTPRequest) plain() Tool {
	return New("http_request", "Sends an HTTP request to a public web server or API and gives the answer: status, headers, body as text. "+
		"Redirects are followed. Hosts of private networks cannot be reached.", h.send)
}

// repeats reports whether a request may have another effect when it is sent twice: HTTP says so of these methods.
func repeats(input json.RawMessage) bool {
	var in struct{ Method string }
	return json.Unmarshal(input, &in) == nil && (in.Method == http.MethodPost || in.Method == http.MethodPatch)
}

// Guard is what the tool asks through.
func (h HTTPRequest) Guard() guard.Guard {
	allow := h.AllowHosts
	if allow == nil {
		for one := range strings.SplitSeq(os.Getenv("HTTP_ALLOWED_HOSTS"), ",") {
			if one = strings.TrimSpace(one); one != "" {
				allow = append(allow, one)
			}
		}
	}
	return guard.Guard{Allow: allow, Lookup: h.Lookup}
}

func (h HTTPRequest) send(ctx Context, in httpRequestIn) (httpRequestOut, error) {
	limit := h.Timeout
	if limit <= 0 {
		limit = DefaultHTTPTimeout
	}
	if asked := time.Duration(min(in.Timeout, limit.Seconds()) * float64(time.Second)); asked > 0 {
		limit = min(limit, asked)
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := in.request(timed)
	if err != nil {
		return httpRequestOut{}, err
	}
	client := h.Guard().Client()
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		return httpRequestOut{}, httpFault(ctx, timed, r.URL, limit, err)
	}
	defer func() { _ = resp.Body.Close() }()
	most := h.MaxBytes
	if most <= 0 {
		most = DefaultHTTPBytes
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil && len(body) == 0 {
		return httpRequestOut{}, httpFault(ctx, timed, r.URL, limit, err)
	}
	out := httpRequestOut{Status: resp.StatusCode, Headers: toldHeaders(resp.Header)}
	switch {
	case err != nil:
		body = []byte(trimTail(string(body)))
		out.Truncated = "the answer broke off"
	case int64(len(body)) > most:
		body = []byte(trimTail(string(body[:most])))
		out.Truncated = fmt.Sprintf("the answer is longer than %d bytes", most)
	}
	out.Body = bodyText(resp.Header.Get("Content-Type"), body)
	return out.fitting(), nil
}

// request checks what the model wrote.
func (in httpRequestIn) request(ctx context.Context) (*http.Request, error) {
	u, err := url.Parse(in.URL)
	switch {
	case err != nil || u.Host == "":
		return nil, fault.New(fault.Invalid, "url: must be a whole URL, as https://example.com/path").Because("tool_input")
	case len(in.Body) > maxHTTPBody:
		return nil, fault.New(fault.Invalid, "body: %d bytes, the limit is %d", len(in.Body), maxHTTPBody).Because("tool_input")
	case len(in.Headers) > maxHTTPHeaders:
		return nil, fault.New(fault.Invalid, "headers: %d, the limit is %d", len(in.Headers), maxHTTPHeaders).Because("tool_input")
	}
	var body io.Reader
	if in.Body != "" {
		body = strings.NewReader(in.Body)
	}
	r, err := http.NewRequestWithContext(ctx, in.Method, in.URL, body)
	if err != nil {
		return nil, fault.New(fault.Invalid, "url: must be a whole URL, as https://example.com/path").Because("tool_input")
	}
	r.Header.Set("User-Agent", "steadfast-agent")
	for name, value := range in.Headers {
		if !mayBeSet(name, value) {
			return nil, fault.New(fault.Invalid, "headers: %q may not be set", Cut(name, 80)).Because("tool_input")
		}
		r.Header.Set(name, value)
	}
	return r, nil
}

// mayBeSet keeps the headers of the connection itself from the model, and what is no header at all.
func mayBeSet(name, value string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "", "Host", "Connection", "Content-Length", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Keep-Alive", "Expect",
		"Proxy-Authorization", "Proxy-Connection", "Accept-Encoding":
		return false
	}
	return len(value) <= 8*1024 && !strings.ContainsFunc(name, notInToken) && !strings.ContainsAny(value, "\r\n\x00")
}

func notInToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
}

// httpFault is err in words that the model may read: nothing of addresses that a name resolves to.
func httpFault(caller, timed context.Context, u *url.URL, limit time.Duration, err error) error {
	var coded *fault.Error
	switch {
	case caller.Err() != nil:
		return context.Cause(caller)
	case errors.As(err, &coded) && coded.Code != fault.Unavailable:
		return coded
	case timed.Err() != nil:
		return fault.New(fault.Unavailable, "%s did not answer within %s", u.Hostname(), limit).Because("http_timeout")
	}
	return fault.New(fault.Unavailable, "%s could not be reached, or broke off", u.Hostname()).Because("http_failed")
}

// toldHeaders are the headers of an answer that help to read it.
func toldHeaders(h http.Header) map[string]string {
	told := map[string]string{}
	for _, name := range []string{"Content-Type", "Content-Language", "Date", "Etag", "Last-Modified", "Link", "Location", "Retry-After", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		if v := h.Get(name); v != "" {
			told[strings.ToLower(name)] = Cut(strings.ToValidUTF8(v, "\uFFFD"), 500)
		}
	}
	return told
}

// bodyText is the body as text, or a note of what it is.
func bodyText(contentType string, body []byte) string {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = "unknown"
	}
	if strings.EqualFold(params["charset"], "iso-8859-1") {
		runes := make([]rune, len(body))
		for i, b := range body {
			runes[i] = rune(b)
		}
		return string(runes)
	}
	if bytes.IndexByte(body, 0) >= 0 || !utf8.Valid(body) && !strings.HasPrefix(kind, "text/") {
		return fmt.Sprintf("[%d bytes of %s left out]", len(body), kind)
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}

// fitting cuts the body so that the whole result stays within DefaultMaxResult: of a longer body the beginning and the end stay.
func (o httpRequestOut) fitting() httpRequestOut {
	for room := DefaultMaxResult; ; room /= 2 {
		whole, err := json.Marshal(o)
		if err != nil || len(whole) <= DefaultMaxResult || room < 1024 {
			return o
		}
		o.Body = Cut(o.Body, min(room, len(o.Body)*(DefaultMaxResult-1024)/len(whole)))
		if o.Truncated == "" {
			o.Truncated = "the middle of the body was cut"
		}
	}
}
