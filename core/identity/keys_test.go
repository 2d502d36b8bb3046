package identity_test

import (
	"crypto/rsa"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/steadfast-agents/steadfast/core/fault"
)

func TestKeysAreFetchedOnceWhenNeeded(t *testing.T) {
	p := newPool(t)
	v, token := p.verifier(), signed(t, p.access(nil))
	if p.fetched() != 0 {
		t.Errorf("%d fetches before the first token, want 0", p.fetched())
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := v.Verify(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if p.fetched() != 1 {
		t.Errorf("%d fetches for 20 tokens at once, want 1", p.fetched())
	}
}

func TestUnknownKeyFetchesAtMostSoOften(t *testing.T) {
	p := newPool(t)
	v := p.verifier()
	verify := func(kid string, key *rsa.PrivateKey) error {
		_, err := v.Verify(t.Context(), sign(t, p.access(nil), kid, key, jwt.SigningMethodRS256))
		return err
	}
	wantRefusal(t, verify("k1", firstKey()), "")
	for range 5 {
		wantRefusal(t, verify("k2", secondKey()), "token_key")
	}
	if p.fetched() != 1 {
		t.Errorf("%d fetches within a minute, want 1", p.fetched())
	}
	p.set(func(p *pool) { p.keys["k2"] = secondKey(); p.clock = noon.Add(time.Minute) })
	wantRefusal(t, verify("k2", secondKey()), "")
	wantRefusal(t, verify("k1", firstKey()), "")
	if p.fetched() != 2 {
		t.Errorf("%d fetches after the key was added, want 2", p.fetched())
	}
}

// TestKeysAreTheIssuersOwn: an issuer's address that leads elsewhere gives no keys.
func TestKeysAreTheIssuersOwn(t *testing.T) {
	p := newPool(t)
	elsewhere := httptest.NewServer(http.RedirectHandler(p.URL+"/pool/.well-known/jwks.json", http.StatusFound))
	defer elsewhere.Close()
	v := p.verifier()
	v.Issuer = elsewhere.URL + "/pool"
	token := signed(t, p.access(jwt.MapClaims{"iss": v.Issuer}))
	if _, err := v.Verify(t.Context(), token); !fault.Is(err, fault.Unavailable) || p.fetched() != 0 {
		t.Errorf("Verify = %v after %d fetches, want Unavailable and none", err, p.fetched())
	}
}

func TestWithdrawnKeyEndsWithinAnHour(t *testing.T) {
	p := newPool(t)
	v, token := p.verifier(), signed(t, p.access(jwt.MapClaims{"exp": noon.Add(24 * time.Hour).Unix()}))
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	p.set(func(p *pool) { p.keys = map[string]*rsa.PrivateKey{"k2": secondKey()}; p.clock = noon.Add(time.Hour) })
	_, err := v.Verify(t.Context(), token)
	wantRefusal(t, err, "token_key")
}

func TestFailedFetchIsNoRefusal(t *testing.T) {
	p := newPool(t)
	p.status = http.StatusInternalServerError
	v, token := p.verifier(), signed(t, p.access(nil))
	for range 2 { // the second within the pause after the first, and so without a fetch
		if _, err := v.Verify(t.Context(), token); !fault.Retryable(err) {
			t.Errorf("Verify without keys = %v, want an unavailable fault", err)
		}
	}
	if p.fetched() != 1 {
		t.Errorf("%d fetches within the pause, want 1", p.fetched())
	}
	p.set(func(p *pool) { p.status = 0; p.clock = noon.Add(time.Second) })
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Errorf("Verify once the keys are there = %v", err)
	}
}

func TestKnownKeyOutlivesFailedFetch(t *testing.T) {
	p := newPool(t)
	v := p.verifier()
	token := signed(t, p.access(jwt.MapClaims{"exp": noon.Add(24 * time.Hour).Unix()}))
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	p.set(func(p *pool) { p.status = http.StatusBadGateway; p.clock = noon.Add(2 * time.Hour) })
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Errorf("Verify with a known key while the issuer is away = %v", err)
	}
	late := p.access(jwt.MapClaims{"exp": noon.Add(24 * time.Hour).Unix()})
	if _, err := v.Verify(t.Context(), sign(t, late, "k2", secondKey(), jwt.SigningMethodRS256)); !fault.Retryable(err) {
		t.Errorf("Verify with an unknown key while the issuer is away = %v, want an unavailable fault", err)
	}
}
