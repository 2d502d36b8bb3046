package identity_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/identity"
)

func TestVerifyGivesTheCaller(t *testing.T) {
	p := newPool(t)
	got, err := p.verifier().Verify(t.Context(), signed(t, p.access(nil)))
	if err != nil {
		t.Fatal(err)
	}
	want := identity.Caller{
		Sub: "user-1", Username: "ada", ClientID: client, Use: identity.Access, Scopes: []string{"openid", "email"},
		Groups: []string{"staff"}, TokenID: "j-1", IssuedAt: noon.Local(), ExpiresAt: noon.Add(time.Hour).Local(),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Verify (-want +got):\n%s", d)
	}
}

func TestP32TokensOfCognito(t *testing.T) {
	p := newPool(t)
	at := func(d time.Duration) int64 { return noon.Add(d).Unix() }
	tests := []struct {
		name    string
		claims  jwt.MapClaims
		allowID bool
		leeway  time.Duration
		want    string // reason, empty: passes
	}{
		{name: "access token of our client", claims: p.access(nil)},
		{name: "access token with an aud of its own", claims: p.access(jwt.MapClaims{"aud": "https://api.example"})},
		{name: "access token of another client", claims: p.access(jwt.MapClaims{"client_id": "other"}), want: "token_client"},
		{name: "access token of another client with our aud", claims: p.access(jwt.MapClaims{"client_id": "other", "aud": client}), want: "token_client"},
		{name: "access token without client_id", claims: p.access(jwt.MapClaims{"client_id": nil}), want: "token_claims"},
		{name: "access token with our aud and no client_id", claims: p.access(jwt.MapClaims{"client_id": nil, "aud": client}), want: "token_claims"},
		{name: "ID token where an access token is due", claims: p.id(nil), want: "token_use"},
		{name: "ID token with client_id where an access token is due", claims: p.id(jwt.MapClaims{"client_id": client}), want: "token_use"},
		{name: "ID token where allowed", claims: p.id(nil), allowID: true},
		{name: "ID token of another client", claims: p.id(jwt.MapClaims{"aud": "other"}), allowID: true, want: "token_client"},
		{name: "ID token without aud", claims: p.id(jwt.MapClaims{"aud": nil, "client_id": client}), allowID: true, want: "token_claims"},
		{name: "ID token for two", claims: p.id(jwt.MapClaims{"aud": []string{client, "other"}}), allowID: true, want: "token_client"},
		{name: "ID token whose aud parts make our id", claims: p.id(jwt.MapClaims{"aud": []string{"steadfast", "dev"}}), allowID: true, want: "token_client"},
		{name: "access token where ID is allowed too", claims: p.access(nil), allowID: true},
		{name: "no token_use", claims: p.access(jwt.MapClaims{"token_use": nil}), allowID: true, want: "token_claims"},
		{name: "refresh token", claims: p.access(jwt.MapClaims{"token_use": "refresh"}), allowID: true, want: "token_use"},
		{name: "expired by 10 s", claims: p.access(jwt.MapClaims{"exp": at(-10 * time.Second)}), want: "token_expired"},
		{name: "expired by 4 s", claims: p.access(jwt.MapClaims{"exp": at(-4 * time.Second)})},
		{name: "expired by 4 s, no leeway", claims: p.access(jwt.MapClaims{"exp": at(-4 * time.Second)}), leeway: -1, want: "token_expired"},
		{name: "expired by 10 s, leeway 30 s", claims: p.access(jwt.MapClaims{"exp": at(-10 * time.Second)}), leeway: 30 * time.Second},
		{name: "no exp", claims: p.access(jwt.MapClaims{"exp": nil}), want: "token_claims"},
		{name: "valid in 10 s", claims: p.access(jwt.MapClaims{"nbf": at(10 * time.Second)}), want: "token_early"},
		{name: "valid in 4 s", claims: p.access(jwt.MapClaims{"nbf": at(4 * time.Second)})},
		{name: "valid in 4 s, no leeway", claims: p.access(jwt.MapClaims{"nbf": at(4 * time.Second)}), leeway: -1, want: "token_early"},
		{name: "issued in 10 s", claims: p.access(jwt.MapClaims{"iat": at(10 * time.Second)}), want: "token_early"},
		{name: "issued in 4 s", claims: p.access(jwt.MapClaims{"iat": at(4 * time.Second)})},
		{name: "no iat", claims: p.access(jwt.MapClaims{"iat": nil}), want: "token_claims"},
		{name: "another pool", claims: p.access(jwt.MapClaims{"iss": p.URL + "/other"}), want: "token_issuer"},
		{name: "issuer with a slash more", claims: p.access(jwt.MapClaims{"iss": p.issuer() + "/"}), want: "token_issuer"},
		{name: "issuer in capitals", claims: p.access(jwt.MapClaims{"iss": strings.ToUpper(p.issuer())}), want: "token_issuer"},
		{name: "no issuer", claims: p.access(jwt.MapClaims{"iss": nil}), want: "token_claims"},
		{name: "no sub", claims: p.access(jwt.MapClaims{"sub": nil}), want: "token_claims"},
		{name: "empty sub", claims: p.access(jwt.MapClaims{"sub": ""}), want: "token_claims"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := p.verifier()
			v.AllowID, v.Leeway = tt.allowID, tt.leeway
			caller, err := v.Verify(t.Context(), signed(t, tt.claims))
			wantRefusal(t, err, tt.want)
			if passed := caller.Sub == "user-1" && caller.ClientID == client && caller.Username == "ada"; passed != (tt.want == "") {
				t.Errorf("Verify gave %+v, want a caller: %v", caller, tt.want == "")
			}
		})
	}
}

func TestVerifySignature(t *testing.T) {
	p := newPool(t)
	good := signed(t, p.access(nil))
	head, body, _ := strings.Cut(good, ".")
	body, mac, _ := strings.Cut(body, ".")
	other := signed(t, p.access(jwt.MapClaims{"sub": "user-2"}))
	_, otherBody, _ := strings.Cut(other, ".")
	otherBody, _, _ = strings.Cut(otherBody, ".")
	publicKey := x509.MarshalPKCS1PublicKey(&firstKey().PublicKey)
	tests := []struct{ name, token, want string }{
		{"good", good, ""},
		{"empty", "", "token_missing"},
		{"not a token", "abc", "token_malformed"},
		{"not JSON", "e30x.e30.e30", "token_malformed"},
		{"too long", strings.Repeat("a", identity.MaxTokenBytes+1), "token_malformed"},
		{"other claims under the signature", head + "." + otherBody + "." + mac, "token_signature"},
		{"no signature", head + "." + body + ".", "token_signature"},
		{"key of another under our kid", sign(t, p.access(nil), "k1", secondKey(), jwt.SigningMethodRS256), "token_signature"},
		{"unknown kid", sign(t, p.access(nil), "k9", firstKey(), jwt.SigningMethodRS256), "token_key"},
		{"no kid", sign(t, p.access(nil), "", firstKey(), jwt.SigningMethodRS256), "token_key"},
		{"alg none", sign(t, p.access(nil), "k1", jwt.UnsafeAllowNoneSignatureType, jwt.SigningMethodNone), "token_signature"},
		{"HS256 with the public key", sign(t, p.access(nil), "k1", publicKey, jwt.SigningMethodHS256), "token_signature"},
		{"RS512", sign(t, p.access(nil), "k1", firstKey(), jwt.SigningMethodRS512), "token_signature"},
		{"PS256", sign(t, p.access(nil), "k1", firstKey(), jwt.SigningMethodPS256), "token_signature"},
	}
	v := p.verifier()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := v.Verify(t.Context(), tt.token)
			wantRefusal(t, err, tt.want)
			for part := range strings.SplitSeq(tt.token, ".") {
				if err != nil && len(part) > 2 && strings.Contains(err.Error(), part) {
					t.Errorf("Verify: error %q holds a part of the token", err)
				}
			}
		})
	}
}

// wantRefusal checks that err is Denied for the reason, or nil if reason is empty.
func wantRefusal(t *testing.T, err error, reason string) {
	t.Helper()
	code := fault.Denied
	if reason == "" {
		code = ""
	}
	if fault.CodeOf(err) != code || fault.ReasonOf(err) != reason {
		t.Errorf("Verify: %v (code %q, reason %q), want code %q, reason %q", err, fault.CodeOf(err), fault.ReasonOf(err), code, reason)
	}
}

func TestVerifyNeedsConfiguration(t *testing.T) {
	p := newPool(t)
	token := signed(t, p.access(jwt.MapClaims{"client_id": nil, "iss": nil}))
	for _, v := range []*identity.Verifier{{ClientID: client}, {Issuer: p.issuer()}} {
		if _, err := v.Verify(t.Context(), token); !fault.Is(err, fault.Internal) {
			t.Errorf("Verify with issuer %q and client %q = %v, want an internal fault", v.Issuer, v.ClientID, err)
		}
	}
}

func TestVerifyStopsWaitingWithItsContext(t *testing.T) {
	p := newPool(t)
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-release
	}))
	defer slow.Close()
	defer close(release)
	v := &identity.Verifier{Issuer: slow.URL, ClientID: client, Now: p.now}
	_, err := v.Verify(ctx, signed(t, p.access(jwt.MapClaims{"iss": slow.URL})))
	if !fault.Retryable(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("Verify with a context that ends while the keys are fetched = %v, want a retryable one", err)
	}
}
