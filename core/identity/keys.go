package identity

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"github.com/steadfast-agents/steadfast/core/fault"
	"golang.org/x/sync/singleflight"
)

const (
	keysMaxAge   = time.Hour       // a known key is looked up again after this, so that a withdrawn one ends
	fetchTimeout = 5 * time.Second // of one fetch
	fetchPause   = time.Second     // after a failed fetch, before the next
)

// keySet is the issuer's key set, as last fetched. It is a jwkset.Storage whose KeyRead fetches when it has to: one
// fetch at a time, whoever waits for it.
type keySet struct {
	*jwkset.MemoryJWKSet
	url    string
	client *http.Client
	every  time.Duration
	now    func() time.Time
	flight singleflight.Group
	finder keyfunc.Keyfunc

	mu      sync.Mutex
	tried   time.Time // the last fetch ended
	fetched time.Time // the last good one ended
	failure error     // of the last fetch
}

func newKeySet(v *Verifier) *keySet {
	k := &keySet{
		MemoryJWKSet: jwkset.NewMemoryStorage(),
		url:          v.Issuer + "/.well-known/jwks.json",
		client:       v.Client,
		every:        v.RefreshEvery,
		now:          v.now,
	}
	if k.client == nil {
		k.client = &http.Client{Timeout: fetchTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the issuer's keys are at its own address, or nowhere
		}}
	}
	if k.every == 0 {
		k.every = time.Minute
	}
	// New fails only without a storage.
	k.finder, _ = keyfunc.New(keyfunc.Options{Storage: k, UseWhitelist: []jwkset.USE{jwkset.UseSig, ""}})
	return k
}

// find gives the library's key look-up. A token must name its key: trying them all is never needed with Cognito.
func (k *keySet) find(ctx context.Context) jwt.Keyfunc {
	lookUp := k.finder.KeyfuncCtx(ctx)
	return func(t *jwt.Token) (any, error) {
		if kid, _ := t.Header[jwkset.HeaderKID].(string); kid == "" {
			return nil, jwkset.ErrKeyNotFound
		}
		return lookUp(t)
	}
}

// KeyRead gives the key named kid, fetching the set first if kid is unknown or the set is old. A key that is known
// stays good while the set cannot be fetched. Faults: Unavailable; jwkset.ErrKeyNotFound if the issuer does not have it.
func (k *keySet) KeyRead(ctx context.Context, kid string) (jwkset.JWK, error) {
	key, err := k.MemoryJWKSet.KeyRead(ctx, kid)
	known := err == nil
	due, failure := k.due(known)
	if due {
		failure = k.fetch(ctx, known)
	}
	switch {
	case failure == nil && due:
		return k.MemoryJWKSet.KeyRead(ctx, kid)
	case failure != nil && !known:
		return jwkset.JWK{}, fault.Wrap(fault.Unavailable, failure, "the issuer's keys cannot be fetched")
	}
	return key, err
}

// due says whether the set should be fetched now, and how the last fetch failed.
func (k *keySet) due(known bool) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	switch {
	case k.tried.IsZero():
		return true, nil
	case k.failure != nil:
		return now.Sub(k.tried) >= fetchPause, k.failure
	case known:
		return now.Sub(k.fetched) >= keysMaxAge, nil
	}
	return now.Sub(k.fetched) >= k.every, nil
}

// fetch replaces the set by the issuer's, unless another has just done so. It outlives a caller that gives up waiting.
func (k *keySet) fetch(ctx context.Context, known bool) error {
	done := k.flight.DoChan("", func() (any, error) {
		if due, failure := k.due(known); !due {
			return nil, failure
		}
		_, err := jwkset.NewStorageFromHTTP(k.url, jwkset.HTTPClientStorageOptions{
			Client: k.client, Ctx: context.WithoutCancel(ctx), HTTPTimeout: fetchTimeout, Storage: k.MemoryJWKSet,
		})
		k.note(err)
		return nil, err
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *keySet) note(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried, k.failure = k.now(), err
	if err == nil {
		k.fetched = k.tried
	}
}
