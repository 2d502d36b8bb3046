package gateway

import (
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// httpEvent is the payload, format 2.0, of a request to the HTTP API.
type httpEvent struct {
	Version         string            `json:"version"`
	RouteKey        string            `json:"routeKey"`
	RawPath         string            `json:"rawPath"`
	RawQueryString  string            `json:"rawQueryString"`
	Cookies         []string          `json:"cookies,omitempty"`
	Headers         map[string]string `json:"headers"`
	Query           map[string]string `json:"queryStringParameters,omitempty"`
	Path            map[string]string `json:"pathParameters,omitempty"`
	Context         httpContext       `json:"requestContext"`
	Body            string            `json:"body,omitempty"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
}

type httpContext struct {
	AccountID    string          `json:"accountId"`
	APIID        string          `json:"apiId"`
	Authorizer   *httpAuthorizer `json:"authorizer,omitempty"`
	DomainName   string          `json:"domainName"`
	DomainPrefix string          `json:"domainPrefix"`
	HTTP         httpDescription `json:"http"`
	RequestID    string          `json:"requestId"`
	RouteKey     string          `json:"routeKey"`
	Stage        string          `json:"stage"`
	Time         string          `json:"time"`
	TimeEpoch    int64           `json:"timeEpoch"`
}

type httpAuthorizer struct {
	JWT jwtAuthorizer `json:"jwt"`
}

type jwtAuthorizer struct {
	Claims map[string]string `json:"claims"`
	Scopes []string          `json:"scopes"` // those the route asks for: null
}

type httpDescription struct {
	Method    string `json:"method"`
	Path      string `json:"path"`
	Protocol  string `json:"protocol"`
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent"`
}

// httpEventOf describes r, whose body has been read, for the function of route m. The path is decoded, as the HTTP API
// gives it.
func (g *Gateway) httpEventOf(r *http.Request, m matched, id string, who *httpAuthorizer, body []byte) httpEvent {
	now := g.now()
	words, millis := clock(now)
	prefix, _, _ := strings.Cut(r.Host, ".")
	e := httpEvent{
		Version: "2.0", RouteKey: m.key(), RawPath: r.URL.Path, RawQueryString: r.URL.RawQuery,
		Cookies: cookies(r.Header), Headers: httpHeaders(r, len(body), now), Query: joined(queryOf(r)), Path: m.params,
		Context: httpContext{
			AccountID: g.Stack.Account, APIID: g.Stack.HTTP.ID, Authorizer: who, DomainName: r.Host, DomainPrefix: prefix,
			HTTP:      httpDescription{r.Method, r.URL.Path, r.Proto, sourceIP(r), r.UserAgent()},
			RequestID: id, RouteKey: m.key(), Stage: "$default", Time: words, TimeEpoch: millis,
		},
	}
	e.Body, e.IsBase64Encoded = encodeBody(r.Header.Get("Content-Type"), body)
	return e
}

// hopHeaders concern one connection and go no further.
var hopHeaders = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// httpHeaders gives the headers in lower case, values of one name joined by commas, without cookies, with what the
// gateway adds.
func httpHeaders(r *http.Request, length int, now time.Time) map[string]string {
	out := map[string]string{}
	for name, values := range r.Header {
		if name != "Cookie" && !slices.Contains(hopHeaders, name) {
			out[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	out["host"] = r.Host
	out["content-length"] = strconv.Itoa(length)
	for name, value := range forwarded(r, now) {
		out[strings.ToLower(name)] = value
	}
	return out
}

// forwarded gives the headers that the gateway adds.
func forwarded(r *http.Request, now time.Time) map[string]string {
	from := strings.Join(append(r.Header.Values("X-Forwarded-For"), sourceIP(r)), ", ")
	port := "80"
	if u := (url.URL{Host: r.Host}); u.Port() != "" {
		port = u.Port()
	}
	out := map[string]string{"X-Forwarded-For": from, "X-Forwarded-Port": port, "X-Forwarded-Proto": "http"}
	if r.Header.Get("X-Amzn-Trace-Id") == "" {
		out["X-Amzn-Trace-Id"] = traceID(now)
	}
	return out
}

// cookies gives the cookies one by one.
func cookies(h http.Header) []string {
	var out []string
	for _, line := range h.Values("Cookie") {
		for c := range strings.SplitSeq(line, ";") {
			if c = strings.TrimSpace(c); c != "" {
				out = append(out, c)
			}
		}
	}
	return out
}

// queryOf gives the query, without the parts that cannot be decoded.
func queryOf(r *http.Request) url.Values {
	q, _ := url.ParseQuery(r.URL.RawQuery)
	return q
}

// joined gives each name's values, joined by commas.
func joined(q url.Values) map[string]string {
	out := make(map[string]string, len(q))
	for name, values := range q {
		out[name] = strings.Join(values, ",")
	}
	return out
}

// encodeBody gives text as it is and anything else in base64. A form is not text to the HTTP API.
func encodeBody(contentType string, body []byte) (string, bool) {
	kind, _, _ := mime.ParseMediaType(contentType)
	text := kind == "" || strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") ||
		slices.Contains([]string{"application/json", "application/javascript", "application/xml"}, kind)
	if len(body) == 0 || text && utf8.Valid(body) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}
