package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/internal/cloud/gateway"
	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// do sends a request and gives the answer with its body.
func do(t *testing.T, method, url, body string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

func TestHTTPEvent(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w := open(t, map[string]func(string) (string, string){"add": answers(ok)}, func(g *gateway.Gateway) {
		g.Now = func() time.Time { return at }
	})
	token := w.token(t, "ada", identity.TokenOptions{IssuedAt: at, Scope: "openid email", Claims: map[string]any{"cognito:groups": []string{"a", "b"}}})
	r, _ := http.NewRequest("POST", w.http+"/things/a%20b/parts?x=1&y=2&x=3", strings.NewReader(`{"n":1}`))
	r.Header = http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "User-Agent": {"test"},
		"X-Twice": {"one", "two"}, "Cookie": {"a=1; b=2", "c=3"},
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 || res.Header.Get("Apigw-Requestid") == "" {
		t.Fatalf("status %d, request id %q, want 200 and an id", res.StatusCode, res.Header.Get("Apigw-Requestid"))
	}
	got := decode[events.APIGatewayV2HTTPRequest](t, w.await(t, "add", 1)[0])
	host := strings.TrimPrefix(w.http, "http://")
	claims := got.RequestContext.Authorizer.JWT.Claims
	if claims["sub"] != w.issuer.Sub("ada") || claims["iat"] != fmt.Sprint(at.Unix()) || claims["cognito:groups"] != "[a b]" || claims["version"] != "2" {
		t.Errorf("claims %v, want those of ada, all as text", claims)
	}
	got.RequestContext.Authorizer = nil
	if got.Headers["authorization"] != "Bearer "+token || !strings.HasPrefix(got.Headers["x-amzn-trace-id"], "Root=1-") {
		t.Error("authorization or trace header is not handed on")
	}
	delete(got.Headers, "authorization")
	delete(got.Headers, "x-amzn-trace-id")
	prefix, _, _ := strings.Cut(host, ".")
	_, port, _ := strings.Cut(host, ":")
	want := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "POST /things/{id}/parts", RawPath: "/things/a b/parts", RawQueryString: "x=1&y=2&x=3",
		Cookies: []string{"a=1", "b=2", "c=3"},
		Headers: map[string]string{
			"content-type": "application/json", "user-agent": "test", "x-twice": "one,two", "host": host, "content-length": "7",
			"x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http", "x-forwarded-port": port, "accept-encoding": "gzip",
		},
		QueryStringParameters: map[string]string{"x": "1,3", "y": "2"}, PathParameters: map[string]string{"id": "a b"},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey: "POST /things/{id}/parts", AccountID: "000000000000", Stage: "$default", RequestID: res.Header.Get("Apigw-Requestid"),
			APIID: "httpapi1", DomainName: host, DomainPrefix: prefix, Time: "30/Nov/2026:12:00:00 +0000", TimeEpoch: at.UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: "POST", Path: "/things/a b/parts", Protocol: "HTTP/1.1", SourceIP: "127.0.0.1", UserAgent: "test",
			},
		},
		Body: `{"n":1}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("event (-want +got):\n%s", d)
	}
}

func TestHTTPBody(t *testing.T) {
	w := open(t, map[string]func(string) (string, string){"open": answers(ok)}, nil)
	tests := []struct {
		name, contentType, body, want string
		base64                        bool
	}{
		{"json", "application/json; charset=utf-8", `{"a":"ü"}`, `{"a":"ü"}`, false},
		{"problem json", "application/problem+json", "{}", "{}", false},
		{"text", "text/plain", "hi", "hi", false},
		{"form", "application/x-www-form-urlencoded", "a=1", "YT0x", true},
		{"bytes", "application/octet-stream", "\x00\xff", "AP8=", true},
		{"text that is none", "text/plain", "\xff", "/w==", true},
		{"empty", "application/octet-stream", "", "", false},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			do(t, "POST", w.http+"/open", tt.body, map[string]string{"Content-Type": tt.contentType})
			got := decode[events.APIGatewayV2HTTPRequest](t, w.await(t, "open", i+1)[i])
			if got.Body != tt.want || got.IsBase64Encoded != tt.base64 {
				t.Errorf("body %q, base64 %v, want %q, %v", got.Body, got.IsBase64Encoded, tt.want, tt.base64)
			}
		})
	}
}

func TestHTTPAnswers(t *testing.T) {
	type headers = map[string]string
	tests := []struct {
		name    string
		run     func(string) (string, string)
		status  int
		body    string
		headers headers
	}{
		{"object", answers(`{"statusCode":201,"headers":{"X-A":"b","content-type":"application/x","X-N":5,"X-T":true},"body":"hi"}`), 201, "hi", headers{"X-A": "b", "Content-Type": "application/x", "X-N": "5", "X-T": "true"}},
		{"as the Go library sends it", answers(`{"statusCode":204,"headers":null,"multiValueHeaders":null,"body":"","cookies":null}`), 204, "", nil},
		{"no content type", answers(`{"statusCode":200,"body":"hi"}`), 200, "hi", headers{"Content-Type": "text/plain;charset=UTF-8"}},
		{"status in quotes", answers(`{"statusCode":"202"}`), 202, "", nil},
		{"base64", answers(`{"statusCode":200,"body":"AP8=","isBase64Encoded":true}`), 200, "\x00\xff", nil},
		{"cookies", answers(`{"statusCode":200,"cookies":["a=1","b=2"]}`), 200, "", headers{"Set-Cookie": "a=1|b=2"}},
		{"multiValueHeaders are ignored in format 2.0", answers(`{"statusCode":200,"multiValueHeaders":{"X-A":["b"]}}`), 200, "", headers{"X-A": ""}},
		{"own length is ignored", answers(`{"statusCode":200,"headers":{"Content-Length":"99"},"body":"hi"}`), 200, "hi", headers{"Content-Length": "2"}},
		{"plain JSON", answers(`{"a":1}`), 200, `{"a":1}`, headers{"Content-Type": "application/json"}},
		{"plain text", answers(`"hi"`), 200, `"hi"`, headers{"Content-Type": "application/json"}},
		{"null", answers(`null`), 200, `null`, headers{"Content-Type": "application/json"}},
		{"not JSON", answers(`hi`), 500, `{"message":"Internal Server Error"}`, nil},
		{"no status", answers(`{"statusCode":99}`), 500, `{"message":"Internal Server Error"}`, nil},
		{"status is a word", answers(`{"statusCode":"fine"}`), 500, `{"message":"Internal Server Error"}`, nil},
		{"body is an object", answers(`{"statusCode":200,"body":{}}`), 500, `{"message":"Internal Server Error"}`, nil},
		{"header is a list", answers(`{"statusCode":200,"headers":{"a":["b"]}}`), 500, `{"message":"Internal Server Error"}`, nil},
		{"base64 that is none", answers(`{"statusCode":200,"body":"!","isBase64Encoded":true}`), 500, `{"message":"Internal Server Error"}`, nil},
		{"function fails", fails("secret detail"), 500, `{"message":"Internal Server Error"}`, nil},
		{"function cannot run", nil, 500, `{"message":"Internal Server Error"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := map[string]func(string) (string, string){}
			if tt.run != nil {
				run["open"] = tt.run
			}
			res, body := do(t, "POST", open(t, run, nil).http+"/open", "", nil)
			if res.StatusCode != tt.status || body != tt.body {
				t.Errorf("answer %d %q, want %d %q", res.StatusCode, body, tt.status, tt.body)
			}
			for name, want := range tt.headers {
				if got := strings.Join(res.Header.Values(name), "|"); got != want {
					t.Errorf("header %s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestHTTPRefusals(t *testing.T) {
	w := open(t, map[string]func(string) (string, string){"open": answers(ok), "list": answers(ok)}, nil)
	tests := []struct {
		name, method, path, body string
		headers                  map[string]string
		status                   int
		want                     string
	}{
		{"unknown path", "GET", "/nothing", "", nil, 404, `{"message":"Not Found"}`},
		{"unknown method", "PUT", "/open", "", nil, 404, `{"message":"Not Found"}`},
		{"OPTIONS without CORS", "OPTIONS", "/open", "", nil, 404, `{"message":"Not Found"}`},
		{"no token", "GET", "/things", "", nil, 401, `{"message":"Unauthorized"}`},
		{"too much body", "POST", "/open", strings.Repeat("a", gateway.MaxHTTPBody+1), nil, 413, `{"message":"Request Entity Too Large"}`},
		{"too much header", "POST", "/open", "", map[string]string{"X-A": strings.Repeat("a", gateway.MaxHTTPHeader)}, 431, `{"message":"Request Header Fields Too Large"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, body := do(t, tt.method, w.http+tt.path, tt.body, tt.headers)
			if res.StatusCode != tt.status || body != tt.want {
				t.Errorf("answer %d %s, want %d %s", res.StatusCode, body, tt.status, tt.want)
			}
		})
	}
	if n := len(w.calls("open")) + len(w.calls("list")); n != 0 {
		t.Errorf("functions ran %d times for refused requests", n)
	}
}

func TestJWTAuthorizer(t *testing.T) {
	w := open(t, map[string]func(string) (string, string){"list": answers(ok)}, nil)
	other, err := identity.New(identity.Options{URL: "http://issuer.example/pool", ClientID: "dev"})
	if err != nil {
		t.Fatal(err)
	}
	foreign, _ := other.Token("ada", identity.TokenOptions{})
	good := w.token(t, "ada", identity.TokenOptions{})
	claims := func(c map[string]any) string { return w.token(t, "ada", identity.TokenOptions{Claims: c}) }
	tests := []struct {
		name, header string
		status       int
		challenge    string
	}{
		{"access token", "Bearer " + good, 200, ""},
		{"lower case", "bearer " + good, 200, ""},
		{"without Bearer", good, 200, ""},
		{"ID token, by aud", "Bearer " + w.token(t, "ada", identity.TokenOptions{Use: "id"}), 200, ""},
		{"nothing", "", 401, "Bearer"},
		{"Bearer alone", "Bearer ", 401, "Bearer"},
		{"garbage", "Bearer a.b.c", 401, "cannot be verified"},
		{"signed by another", "Bearer " + foreign, 401, "cannot be verified"},
		{"another client", "Bearer " + w.token(t, "ada", identity.TokenOptions{ClientID: "x"}), 401, "audience"},
		{"aud of another beside our client_id", "Bearer " + claims(map[string]any{"aud": "x"}), 401, "audience"},
		{"no client", "Bearer " + claims(map[string]any{"client_id": nil}), 401, "audience"},
		{"another issuer", "Bearer " + claims(map[string]any{"iss": "http://x"}), 401, "issuer"},
		{"expired", "Bearer " + claims(map[string]any{"exp": time.Now().Add(-time.Second).Unix()}), 401, "expired"},
		{"without exp", "Bearer " + claims(map[string]any{"exp": nil}), 401, "expiry"},
		{"not yet valid", "Bearer " + claims(map[string]any{"nbf": time.Now().Add(time.Minute).Unix()}), 401, "not valid yet"},
		{"issued later", "Bearer " + claims(map[string]any{"iat": time.Now().Add(time.Minute).Unix()}), 401, "not valid yet"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, body := do(t, "GET", w.http+"/things", "", map[string]string{"Authorization": tt.header})
			challenge := res.Header.Get("Www-Authenticate")
			if res.StatusCode != tt.status || !strings.Contains(challenge, tt.challenge) {
				t.Errorf("status %d, challenge %q, want %d, %q", res.StatusCode, challenge, tt.status, tt.challenge)
			}
			for part := range strings.FieldsFuncSeq(tt.header, func(r rune) bool { return r == '.' || r == ' ' }) {
				if len(part) > 10 && strings.Contains(challenge+body, part) {
					t.Error("the answer holds a part of the token")
				}
			}
		})
	}
}

func TestCORS(t *testing.T) {
	run := map[string]func(string) (string, string){"open": answers(`{"statusCode":200,"headers":{"Access-Control-Allow-Origin":"https://evil.example","X-A":"b"}}`)}
	tests := []struct {
		name                         string
		origins                      []string
		method, path, origin         string
		status                       int
		wantOrigin, wantMethods, wax string
	}{
		{"preflight", []string{"*"}, "OPTIONS", "/open", "https://a.example", 204, "*", "GET,POST", "3600"},
		{"preflight of a route that needs a token", []string{"*"}, "OPTIONS", "/things", "https://a.example", 204, "*", "GET,POST", "3600"},
		{"preflight of no route", []string{"*"}, "OPTIONS", "/nothing", "https://a.example", 204, "*", "GET,POST", "3600"},
		{"one origin", []string{"https://a.example"}, "OPTIONS", "/open", "https://a.example", 204, "https://a.example", "GET,POST", "3600"},
		{"another origin", []string{"https://a.example"}, "OPTIONS", "/open", "https://b.example", 204, "", "", ""},
		{"any https origin", []string{"https://*"}, "OPTIONS", "/open", "https://b.example", 204, "https://b.example", "GET,POST", "3600"},
		{"http origin where https is asked for", []string{"https://*"}, "OPTIONS", "/open", "http://b.example", 204, "", "", ""},
		{"request", []string{"*"}, "POST", "/open", "https://a.example", 200, "*", "", ""},
		{"request without an origin", []string{"*"}, "POST", "/open", "", 200, "", "", ""},
		{"refused request", []string{"*"}, "GET", "/things", "https://a.example", 401, "*", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t, run, func(g *gateway.Gateway) {
				g.Stack.HTTP.CORS = sam.CORS{Origins: tt.origins, Methods: []string{"GET", "POST"}, Headers: []string{"authorization"}, MaxAge: 3600}
			})
			headers := map[string]string{"Access-Control-Request-Method": "POST"}
			if tt.origin != "" {
				headers["Origin"] = tt.origin
			}
			res, _ := do(t, tt.method, w.http+tt.path, "", headers)
			got := []string{fmt.Sprint(res.StatusCode), res.Header.Get("Access-Control-Allow-Origin"), res.Header.Get("Access-Control-Allow-Methods"), res.Header.Get("Access-Control-Max-Age")}
			if d := cmp.Diff([]string{fmt.Sprint(tt.status), tt.wantOrigin, tt.wantMethods, tt.wax}, got); d != "" {
				t.Errorf("answer (-want +got):\n%s", d)
			}
		})
	}
}

func TestRouteSelection(t *testing.T) {
	routes := []sam.HTTPRoute{
		{Method: "GET", Path: "$default", Function: "default"},
		{Method: "ANY", Path: "/{proxy+}", Function: "greedy"},
		{Method: "GET", Path: "/a/{x}", Function: "param"},
		{Method: "GET", Path: "/a/b", Function: "fixed"},
		{Method: "ANY", Path: "/a/b", Function: "any"},
		{Method: "GET", Path: "/a/{x}/c", Function: "deep"},
	}
	run := map[string]func(string) (string, string){}
	for _, r := range routes {
		run[r.Function] = func(string) (string, string) {
			return fmt.Sprintf(`{"statusCode":200,"body":%q}`, r.Function), ""
		}
	}
	w := open(t, run, func(g *gateway.Gateway) { g.Stack.HTTP.Routes = routes })
	for _, tt := range []struct{ method, path, want string }{
		{"GET", "/a/b", "fixed"}, {"PUT", "/a/b", "any"}, {"GET", "/a/z", "param"}, {"PUT", "/a/z", "greedy"},
		{"GET", "/a/b/c", "deep"}, {"GET", "/a/b/d", "greedy"}, {"GET", "/", "default"}, {"PUT", "/", `{"message":"Not Found"}`},
	} {
		if _, got := do(t, tt.method, w.http+tt.path, "", nil); got != tt.want {
			t.Errorf("%s %s goes to %s, want %s", tt.method, tt.path, got, tt.want)
		}
	}
}
