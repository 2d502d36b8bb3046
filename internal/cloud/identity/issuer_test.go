package identity_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	core "github.com/steadfast-agents/steadfast/core/identity"
	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
)

// serve starts an issuer behind a real server, as the local cloud does.
func serve(t *testing.T, dir string) *identity.Issuer {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	issuer := open(t, identity.Options{URL: server.URL + "/us-east-1_local", ClientID: "dev", Dir: dir})
	mux.Handle("/us-east-1_local/", issuer.Handler())
	return issuer
}

func open(t *testing.T, o identity.Options) *identity.Issuer {
	t.Helper()
	issuer, err := identity.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return issuer
}

func TestTokensPassTheProductsVerifier(t *testing.T) {
	issuer := serve(t, "")
	v := core.Verifier{Issuer: issuer.URL(), ClientID: "dev", AllowID: true}
	tests := []struct {
		name string
		opts identity.TokenOptions
		want bool
	}{
		{"access", identity.TokenOptions{}, true},
		{"id", identity.TokenOptions{Use: "id"}, true},
		{"another client", identity.TokenOptions{ClientID: "other"}, false},
		{"expired", identity.TokenOptions{IssuedAt: time.Now().Add(-2 * time.Hour)}, false},
		{"short life", identity.TokenOptions{Life: -time.Minute}, false},
		{"without sub", identity.TokenOptions{Claims: map[string]any{"sub": nil}}, false},
		{"with nbf to come", identity.TokenOptions{Claims: map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			token, err := issuer.Token("ada", tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			caller, err := v.Verify(t.Context(), token)
			if (err == nil) != tt.want {
				t.Errorf("Verify = %v, want it to pass: %v", err, tt.want)
			}
			if tt.want && (caller.Sub != issuer.Sub("ada") || caller.Username != "ada") {
				t.Errorf("Verify gives %+v, want sub %s of ada", caller, issuer.Sub("ada"))
			}
		})
	}
}

func TestClaimsOfAnAccessToken(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	issuer := open(t, identity.Options{URL: "http://localhost/pool", ClientID: "dev", Now: func() time.Time { return at }})
	token, err := issuer.Token("ada", identity.TokenOptions{Scope: "openid"})
	if err != nil {
		t.Fatal(err)
	}
	got := jwt.MapClaims{}
	parsed, err := jwt.NewParser(jwt.WithTimeFunc(func() time.Time { return at })).ParseWithClaims(token, &got, issuer.Key)
	if err != nil {
		t.Fatal(err)
	}
	want := jwt.MapClaims{
		"iss": "http://localhost/pool", "sub": issuer.Sub("ada"), "client_id": "dev", "token_use": "access", "scope": "openid",
		"username": "ada", "auth_time": 1.7960400e9, "iat": 1.7960400e9, "exp": 1.7960436e9, "version": 2.0,
	}
	random := cmpopts.IgnoreMapEntries(func(name string, _ any) bool { return name == "jti" || name == "event_id" })
	if d := cmp.Diff(want, got, random); d != "" {
		t.Errorf("claims (-want +got):\n%s", d)
	}
	if got["jti"] == "" || parsed.Header["alg"] != "RS256" {
		t.Errorf("jti %v, alg %v, want a jti and RS256", got["jti"], parsed.Header["alg"])
	}
}

func TestSubIsTheSameEverywhere(t *testing.T) {
	one, two := open(t, identity.Options{URL: "http://a/p"}), open(t, identity.Options{URL: "http://b/p"})
	if got, want := one.Sub("ada"), "99081c03-ec31-55fc-a200-4847937f850f"; got != want {
		t.Errorf("Sub(ada) = %q, want %q for ever", got, want)
	}
	if one.Sub("ada") != two.Sub("ada") || one.Sub("ada") == one.Sub("Ada") {
		t.Errorf("Sub: ada is %s and %s, Ada is %s; want the first two alike and the third not", one.Sub("ada"), two.Sub("ada"), one.Sub("Ada"))
	}
}

func TestKeySurvivesInItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	first := open(t, identity.Options{URL: "http://a/p", ClientID: "dev", Dir: dir})
	token, err := first.Token("ada", identity.TokenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	second := open(t, identity.Options{URL: "http://a/p", ClientID: "dev", Dir: dir})
	if _, err := jwt.Parse(token, second.Key); err != nil {
		t.Errorf("a token from before the restart: %v", err)
	}
	if _, err := jwt.Parse(token, open(t, identity.Options{URL: "http://a/p"}).Key); err == nil {
		t.Error("a token passes with the key of another issuer")
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 1 {
		t.Fatalf("%d files in the folder, want the key alone", len(files))
	}
	if info, _ := files[0].Info(); info.Mode().Perm() != 0o600 {
		t.Errorf("the key has mode %v, want 0600", info.Mode().Perm())
	}
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "issuer-key.pem"), []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		opts identity.Options
		want string
	}{
		{"no url", identity.Options{}, "absolute"},
		{"slash at the end", identity.Options{URL: "http://a/p/"}, "slash"},
		{"damaged key", identity.Options{URL: "http://a/p", Dir: dir}, "not a PEM file"},
	} {
		if _, err := identity.New(tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: New = %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := open(t, identity.Options{URL: "http://a/p"}).Token("", identity.TokenOptions{}); err == nil {
		t.Error("Token for no user succeeded")
	}
}

func TestDocuments(t *testing.T) {
	issuer := serve(t, "")
	for path, want := range map[string]int{
		"/.well-known/jwks.json": 200, "/.well-known/openid-configuration": 200, "/.well-known/other": 404, "/": 404,
	} {
		res, err := http.Get(issuer.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("GET %s = %d, want %d", path, res.StatusCode, want)
		}
	}
}
