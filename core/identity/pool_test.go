package identity_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/steadfast-agents/steadfast/core/identity"
)

const client = "steadfastdev"

var (
	noon      = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	firstKey  = sync.OnceValue(newKey)
	secondKey = sync.OnceValue(newKey)
)

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

// pool is a user pool whose key set, answers and clock a test moves.
type pool struct {
	*httptest.Server
	mu      sync.Mutex
	keys    map[string]*rsa.PrivateKey // served, by kid
	status  int                        // of the answer, 0: 200
	fetches int
	clock   time.Time
}

func newPool(t *testing.T) *pool {
	p := &pool{keys: map[string]*rsa.PrivateKey{"k1": firstKey()}, clock: noon}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *pool) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetches++
	if r.URL.Path != "/pool/.well-known/jwks.json" {
		http.NotFound(w, r)
		return
	}
	if p.status != 0 {
		w.WriteHeader(p.status)
		return
	}
	set := jwkset.NewMemoryStorage()
	for kid, key := range p.keys {
		jwk, err := jwkset.NewJWKFromKey(&key.PublicKey, jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: kid, ALG: jwkset.AlgRS256, USE: jwkset.UseSig}})
		if err != nil {
			panic(err)
		}
		_ = set.KeyWrite(context.Background(), jwk)
	}
	b, _ := set.JSONPublic(r.Context())
	_, _ = w.Write(b)
}

// set changes the pool while it may be serving.
func (p *pool) set(change func(p *pool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

func (p *pool) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.clock
}

func (p *pool) fetched() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches
}

func (p *pool) issuer() string { return p.URL + "/pool" }

func (p *pool) verifier() *identity.Verifier {
	return &identity.Verifier{Issuer: p.issuer(), ClientID: client, Now: p.now}
}

// access gives the claims of a good access token, changed by with; a nil value takes a claim away.
func (p *pool) access(with jwt.MapClaims) jwt.MapClaims {
	return change(jwt.MapClaims{
		"iss": p.issuer(), "sub": "user-1", "client_id": client, "token_use": "access", "scope": "openid email",
		"username": "ada", "jti": "j-1", "cognito:groups": []string{"staff"}, "iat": noon.Unix(), "exp": noon.Add(time.Hour).Unix(),
	}, with)
}

// id gives the claims of a good ID token.
func (p *pool) id(with jwt.MapClaims) jwt.MapClaims {
	return change(jwt.MapClaims{
		"iss": p.issuer(), "sub": "user-1", "aud": client, "token_use": "id", "cognito:username": "ada",
		"iat": noon.Unix(), "exp": noon.Add(time.Hour).Unix(),
	}, with)
}

func change(c, with jwt.MapClaims) jwt.MapClaims {
	maps.Copy(c, with)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// sign signs c with the first key under kid; an empty kid is left out.
func sign(t *testing.T, c jwt.MapClaims, kid string, key any, method jwt.SigningMethod) string {
	t.Helper()
	token := jwt.NewWithClaims(method, c)
	if kid != "" {
		token.Header["kid"] = kid
	}
	s, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func signed(t *testing.T, c jwt.MapClaims) string {
	t.Helper()
	return sign(t, c, "k1", firstKey(), jwt.SigningMethodRS256)
}
