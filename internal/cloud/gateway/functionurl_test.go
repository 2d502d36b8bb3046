package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud/gateway"
	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// streaming is an Invoker whose one function streams what a test says.
type streaming struct {
	functions
	event string
	play  func(to io.Writer) (invoke.Result, error)
}

func (s *streaming) Stream(_ context.Context, _, _ string, payload []byte, to io.Writer) (invoke.Result, error) {
	s.event = string(payload)
	return s.play(to)
}

// openURL is a world with a function "follow" that has a URL.
func openURL(t *testing.T, play func(to io.Writer) (invoke.Result, error)) (*world, *streaming) {
	t.Helper()
	s := &streaming{play: play}
	w := open(t, nil, func(g *gateway.Gateway) {
		g.Invoker = s
		g.Stack.Functions = []sam.Function{
			{Name: "follow", URL: &sam.FunctionURL{CORS: sam.CORS{Origins: []string{"*"}, Methods: []string{"GET"}, Headers: []string{"authorization"}}}},
			{Name: "list"},
		}
	})
	return w, s
}

const head = `{"statusCode":201,"headers":{"content-type":"text/plain","access-control-allow-origin":"nobody"}}` + "\x00\x00\x00\x00\x00\x00\x00\x00"

func TestFunctionURLStreams(t *testing.T) {
	read := make(chan struct{})
	w, s := openURL(t, func(to io.Writer) (invoke.Result, error) {
		_, _ = io.WriteString(to, head[:30])
		_, _ = io.WriteString(to, head[30:]+"one\n")
		<-read // the first line is there before the second is written
		_, _ = io.WriteString(to, "two\n")
		return invoke.Result{}, nil
	})
	r, err := http.NewRequest("GET", w.http+"/_url/follow/a%2Fb/c?x=1&y=2", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer t"}, "Origin": {"https://example.com"}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	if line, err := lines.ReadString('\n'); line != "one\n" || err != nil {
		t.Errorf("the first line is %q, %v", line, err)
	}
	close(read)
	if rest, err := io.ReadAll(lines); string(rest) != "two\n" || err != nil {
		t.Errorf("the rest is %q, %v", rest, err)
	}
	if res.StatusCode != 201 || res.Header.Get("Content-Type") != "text/plain" || res.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("answer %d, %v", res.StatusCode, res.Header)
	}
	e := decode[events.LambdaFunctionURLRequest](t, s.event)
	got := []any{e.RawPath, e.RawQueryString, e.QueryStringParameters, e.Headers["authorization"], e.RequestContext.HTTP.Method, e.RequestContext.HTTP.Path}
	want := []any{"/a%2Fb/c", "x=1&y=2", map[string]string{"x": "1", "y": "2"}, "Bearer t", "GET", "/a%2Fb/c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestFunctionURLFailures(t *testing.T) {
	failed := invoke.Result{FunctionError: "Unhandled", Payload: []byte(`{}`)}
	tests := []struct {
		name   string
		path   string
		play   func(to io.Writer) (invoke.Result, error)
		status int
	}{
		{"no such function", "/_url/nobody/", nil, 404},
		{"a function without a URL", "/_url/list/", nil, 404},
		{"it fails", "/_url/follow/", func(io.Writer) (invoke.Result, error) { return failed, nil }, 502},
		{"it cannot run", "/_url/follow/", func(io.Writer) (invoke.Result, error) { return invoke.Result{}, fmt.Errorf("no build") }, 502},
		{"no head", "/_url/follow/", func(to io.Writer) (invoke.Result, error) {
			_, _ = io.WriteString(to, `{"statusCode":200,"body":"buffered"}`)
			return invoke.Result{}, nil
		}, 502},
		{"a head that is none", "/_url/follow/", func(to io.Writer) (invoke.Result, error) {
			_, _ = io.WriteString(to, strings.Replace(head, "201", `"x"`, 1)+"body")
			return invoke.Result{}, nil
		}, 502},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := openURL(t, tt.play)
			if res, body := do(t, "GET", w.http+tt.path, "", nil); res.StatusCode != tt.status {
				t.Errorf("%d %s, want %d", res.StatusCode, body, tt.status)
			}
		})
	}
	t.Run("it breaks off", func(t *testing.T) {
		w, _ := openURL(t, func(to io.Writer) (invoke.Result, error) {
			_, _ = io.WriteString(to, head+"half")
			return failed, nil
		})
		res, err := http.Get(w.http + "/_url/follow/")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if body, err := io.ReadAll(res.Body); err == nil {
			t.Errorf("an answer that broke off reads as whole: %q", body)
		}
	})
}

func TestFunctionURLAnswersPreflights(t *testing.T) {
	w, s := openURL(t, nil)
	res, _ := do(t, "OPTIONS", w.http+"/_url/follow/x", "", map[string]string{"Origin": "https://example.com", "Access-Control-Request-Method": "GET"})
	if res.StatusCode != 200 || res.Header.Get("Access-Control-Allow-Headers") != "authorization" || s.event != "" {
		t.Errorf("preflight = %d, %v; the function got %q", res.StatusCode, res.Header, s.event)
	}
}
