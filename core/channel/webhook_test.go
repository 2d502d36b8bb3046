package channel_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/guard"
)

// TestAWebhooksURLIsNotInItsErrors: they are logged, and a URL may be what lets one in.
func TestAWebhooksURLIsNotInItsErrors(t *testing.T) {
	secret := func(context.Context) ([]byte, error) { return []byte(strings.Repeat("k", 32)), nil }
	for url, want := range map[string]fault.Code{"http://127.0.0.1:1/hooks/let-me-in": fault.Unavailable, "http://let-me-in\x00/": fault.Invalid} {
		w := channel.Webhook{URL: url, Allow: channel.Own(url), Channel: "hooks", Secret: secret}
		err := w.Post(channel.Context{Context: t.Context()}, contract.SessionEvent{SessionID: "s", Index: 3})
		if !fault.Is(err, want) || strings.Contains(err.Error(), "let-me-in") {
			t.Errorf("Post = %v, want %s without the URL", err, want)
		}
	}
}

// TestWebhooksGoThroughTheGuard: a URL that somebody else chose reaches nothing of the inside.
func TestWebhooksGoThroughTheGuard(t *testing.T) {
	asked := 0
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer inside.Close()
	secret := func(context.Context) ([]byte, error) { return []byte(strings.Repeat("k", 32)), nil }
	for _, url := range []string{inside.URL, "http://169.254.169.254/latest", "https://localhost/", "https://10.0.0.1/", "http://example.com/", "file:///etc/passwd"} {
		w := channel.Webhook{URL: url, Channel: "hooks", Secret: secret}
		if err := w.Post(channel.Context{Context: t.Context()}, contract.SessionEvent{SessionID: "s"}); !strings.Contains(fmt.Sprint(err), "may be asked") && !strings.Contains(fmt.Sprint(err), "not a public host") && !strings.Contains(fmt.Sprint(err), "no host") {
			t.Errorf("%s: %v, want it blocked", url, err)
		}
	}
	if asked != 0 {
		t.Errorf("the inside was asked %d times", asked)
	}
	local := strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)
	w := channel.Webhook{URL: local, Allow: channel.Own(local), Channel: "hooks", Secret: secret}
	if err := w.Post(channel.Context{Context: t.Context()}, contract.SessionEvent{SessionID: "s"}); err != nil || asked != 1 {
		t.Errorf("what the deployment names: %v, asked %d times", err, asked)
	}
}

// TestOwn: what the deployment names and nothing else is let through.
func TestOwn(t *testing.T) {
	for url, want := range map[string][]string{
		"https://hooks.example.com/in?x=1": {"hooks.example.com"},
		"https://hooks.example.com:8443":   {"hooks.example.com:8443"},
		"http://u:p@hooks.example.com/":    {"http://hooks.example.com"},
		"http://localhost:9000/hook":       {"http://localhost:9000", "http://127.0.0.1:9000", "http://[::1]:9000"},
		"http://[::1]:9000/":               {"http://[::1]:9000"},
		"nonsense":                         nil,
		"":                                 nil,
	} {
		got := channel.Own(url)
		if !slices.Equal(got, want) {
			t.Errorf("Own(%q) = %q, want %q", url, got, want)
		}
		if err := (guard.Guard{Allow: got}).Validate(); err != nil {
			t.Errorf("Own(%q): %v", url, err)
		}
	}
}

// TestAWebhooksUserIsSent as the service expects it, and stands in no URL.
func TestAWebhooksUserIsSent(t *testing.T) {
	var user, password string
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { user, password, _ = r.BasicAuth() }))
	defer service.Close()
	url := strings.Replace(service.URL, "http://", "http://ada:s3cret@", 1)
	w := channel.Webhook{URL: url, Allow: channel.Own(url), Channel: "hooks", Secret: func(context.Context) ([]byte, error) { return []byte(strings.Repeat("k", 32)), nil }}
	if err := w.Post(channel.Context{Context: t.Context()}, contract.SessionEvent{SessionID: "s"}); err != nil || user != "ada" || password != "s3cret" {
		t.Errorf("Post = %v, as %q %q", err, user, password)
	}
}
