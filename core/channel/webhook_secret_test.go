package channel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// TestAWebhooksURLIsNotInItsErrors: they are logged, and a URL may be what lets one in.
func TestAWebhooksURLIsNotInItsErrors(t *testing.T) {
	secret := func(context.Context) ([]byte, error) { return []byte(strings.Repeat("k", 32)), nil }
	w := channel.Webhook{URL: "http://127.0.0.1:1/hooks/let-me-in", Channel: "hooks", Secret: secret}
	err := w.Post(channel.Context{Context: t.Context()}, contract.SessionEvent{SessionID: "s", Index: 3})
	if !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "let-me-in") {
		t.Errorf("Post = %v, want Unavailable without the URL", err)
	}
}
