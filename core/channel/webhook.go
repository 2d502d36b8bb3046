package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/guard"
)

// EventHeader names the event that a webhook tells, as session/index: the same for each repeat.
const EventHeader = "Steadfast-Event"

// Webhook tells a service of events: each is one POST of JSON, signed with SignatureHeader. A receiver knows a repeat by EventHeader. It
// is safe for concurrent use, by its address.
type Webhook struct {
	URL     string
	Secret  func(ctx context.Context) ([]byte, error)
	Allow   []string         // hosts that may be told, as guard.Guard has them; none: every public host, by https
	Client  *http.Client     // default: one that goes through the guard, gives up after 10 s and follows no redirects
	Now     func() time.Time // default time.Now
	Channel string           // told with each event

	once    sync.Once
	guarded *http.Client
}

// Own is Allow for a URL that the deployment names, and not somebody else: its host alone, at its port, also without TLS if it says so, and
// also on this machine.
func Own(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	plain := ""
	if u.Scheme == "http" {
		plain = "http://"
	}
	hosts := []string{plain + u.Host}
	if port := u.Port(); u.Hostname() == "localhost" && port != "" {
		hosts = append(hosts, plain+"127.0.0.1:"+port, plain+"[::1]:"+port)
	}
	return hosts
}

// Post tells one event. Any answer from 200 to 299 takes it. Faults: Invalid (a service that answers 410 wants no more), Unavailable.
func (w *Webhook) Post(ctx Context, e contract.SessionEvent) error {
	body, err := json.Marshal(contract.AgentSessionEvent{SessionEvent: e, Channel: w.Channel, ContinuationToken: ctx.ContinuationToken})
	if err != nil {
		return fault.Wrap(fault.Internal, err, "encode event %d", e.Index)
	}
	req, err := w.request(ctx, body, e)
	if err != nil {
		return err
	}
	answer, err := w.client().Do(req)
	if err != nil {
		var where *url.Error
		if errors.As(err, &where) {
			err = where.Err // without the URL, which may hold a secret
		}
		return fault.Wrap(fault.Unavailable, err, "tell %s of event %d", w.Channel, e.Index)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64*1024)) // so that the connection can be used again
	switch {
	case answer.StatusCode >= 200 && answer.StatusCode < 300:
		return nil
	case answer.StatusCode == http.StatusGone:
		return fault.New(fault.Invalid, "the service of %s wants no more events", w.Channel)
	}
	return fault.New(fault.Unavailable, "the service of %s answers %d", w.Channel, answer.StatusCode)
}

func (w *Webhook) request(ctx context.Context, body []byte, e contract.SessionEvent) (*http.Request, error) {
	secret, err := w.Secret(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now
	if w.Now != nil {
		now = w.Now
	}
	signature, err := Sign(secret, body, now())
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the URL of %s is none", w.Channel) // its text may hold a secret
	}
	if user := req.URL.User; user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
		req.URL.User = nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(SignatureHeader, signature)
	req.Header.Set(EventHeader, fmt.Sprintf("%s/%d", e.SessionID, e.Index))
	return req, nil
}

func (w *Webhook) client() *http.Client {
	if w.Client != nil {
		return w.Client
	}
	w.once.Do(func() {
		w.guarded = guard.Guard{Allow: w.Allow}.Client()
		w.guarded.Timeout = 10 * time.Second
		w.guarded.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	})
	return w.guarded
}
