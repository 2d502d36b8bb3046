// Package identity is the user pool of the local cloud: an issuer of tokens in Cognito's shape, whose key and whose
// users' ids stay the same over restarts. It knows no passwords and keeps no users: any name gets a token, which is
// why it must only ever be trusted by a local cloud. It never verifies a token and never logs one.
package identity

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// TokenLife is how long a token lives unless it is asked for otherwise, as in Cognito.
const TokenLife = time.Hour

// users is the UUID namespace of user names: a name always has the same sub, on every machine.
var users = uuid.MustParse("5f0c64d5-91f1-4a3b-8b38-0c6f3f2ac0a5")

// Options say who issues and for whom.
type Options struct {
	URL      string           // the iss claim, without a slash at its end; the documents are served below its path
	ClientID string           // of tokens that name no other
	Dir      string           // folder that keeps the key, made if missing. Empty: a new key in memory
	Now      func() time.Time // nil: time.Now
}

// Issuer makes tokens. Make one with New; it is safe for concurrent use.
type Issuer struct {
	opts Options
	key  *rsa.PrivateKey
	kid  string
	jwks json.RawMessage
}

// TokenOptions vary a token. The zero value is an access token of the issuer's client that is good from now on.
type TokenOptions struct {
	Use      string         // "access" (default) or "id"
	ClientID string         // default: the issuer's
	Scope    string         // of access tokens. Default: aws.cognito.signin.user.admin
	IssuedAt time.Time      // default: now
	Life     time.Duration  // default: TokenLife
	Claims   map[string]any // set over all others; a nil value takes the claim away
}

// New opens or makes the key and gives the issuer.
func New(o Options) (*Issuer, error) {
	if u, err := url.Parse(o.URL); err != nil || u.Host == "" || strings.HasSuffix(o.URL, "/") {
		return nil, fmt.Errorf("issuer url %q must be absolute and without a slash at its end", o.URL)
	}
	key, err := openKey(o.Dir)
	if err != nil {
		return nil, err
	}
	i := &Issuer{opts: o, key: key, kid: keyID(key)}
	if i.jwks, err = publicSet(key, i.kid); err != nil {
		return nil, fmt.Errorf("issuer key set: %w", err)
	}
	return i, nil
}

// URL is the iss claim.
func (i *Issuer) URL() string { return i.opts.URL }

// Sub is the id of user in every token: a UUID made from the name.
func (i *Issuer) Sub(user string) string { return uuid.NewSHA1(users, []byte(user)).String() }

// Token signs a token for user, who needs no account. Whoever holds it is user until it expires.
func (i *Issuer) Token(user string, o TokenOptions) (string, error) {
	if user == "" {
		return "", fmt.Errorf("a token needs a user name")
	}
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, i.claims(user, o))
	t.Header["kid"] = i.kid
	signed, err := t.SignedString(i.key)
	if err != nil {
		return "", fmt.Errorf("sign token of %s: %w", user, err)
	}
	return signed, nil
}

// Key gives the key that verifies t, as the JWT library asks for it, without going over the network.
func (i *Issuer) Key(t *jwt.Token) (any, error) {
	if kid, _ := t.Header["kid"].(string); kid != i.kid {
		return nil, jwkset.ErrKeyNotFound
	}
	return &i.key.PublicKey, nil
}

// Handler serves the key set and the discovery document below the path of the issuer's URL, and 404 for all else.
func (i *Issuer) Handler() http.Handler {
	u, _ := url.Parse(i.opts.URL) // New has checked it
	known := strings.TrimRight(u.Path, "/") + "/.well-known/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+known+"jwks.json", func(w http.ResponseWriter, _ *http.Request) { reply(w, i.jwks) })
	mux.HandleFunc("GET "+known+"openid-configuration", func(w http.ResponseWriter, _ *http.Request) { reply(w, i.discovery()) })
	return mux
}

func reply(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	_, _ = w.Write(body)
}

func (i *Issuer) claims(user string, o TokenOptions) jwt.MapClaims {
	at, life, client := o.IssuedAt, o.Life, o.ClientID
	if at.IsZero() {
		at = i.now()
	}
	if life == 0 {
		life = TokenLife
	}
	if client == "" {
		client = i.opts.ClientID
	}
	c := jwt.MapClaims{
		"iss": i.opts.URL, "sub": i.Sub(user), "auth_time": at.Unix(), "iat": at.Unix(), "exp": at.Add(life).Unix(),
		"jti": uuid.NewString(), "event_id": uuid.NewString(),
	}
	maps.Copy(c, ofUse(user, client, o))
	for name, v := range o.Claims {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	return c
}

// ofUse gives the claims in which the two kinds of token differ.
func ofUse(user, client string, o TokenOptions) jwt.MapClaims {
	if o.Use == "id" {
		return jwt.MapClaims{"token_use": "id", "aud": client, "cognito:username": user}
	}
	scope := o.Scope
	if scope == "" {
		scope = "aws.cognito.signin.user.admin"
	}
	return jwt.MapClaims{"token_use": "access", "client_id": client, "username": user, "scope": scope, "version": 2}
}

func (i *Issuer) now() time.Time {
	if i.opts.Now == nil {
		return time.Now()
	}
	return i.opts.Now()
}

func (i *Issuer) discovery() []byte {
	// Strings and lists of strings always encode.
	b, _ := json.Marshal(map[string]any{
		"issuer":                                i.opts.URL,
		"jwks_uri":                              i.opts.URL + "/.well-known/jwks.json",
		"id_token_signing_alg_values_supported": []string{"RS256"},
		"response_types_supported":              []string{"code", "token"},
		"subject_types_supported":               []string{"public"},
		"scopes_supported":                      []string{"openid", "email", "phone", "profile"},
	})
	return b
}

// publicSet is the key set that verifiers fetch.
func publicSet(key *rsa.PrivateKey, kid string) (json.RawMessage, error) {
	jwk, err := jwkset.NewJWKFromKey(&key.PublicKey, jwkset.JWKOptions{
		Metadata: jwkset.JWKMetadataOptions{ALG: jwkset.AlgRS256, KID: kid, USE: jwkset.UseSig},
	})
	if err != nil {
		return nil, err
	}
	set := jwkset.NewMemoryStorage()
	if err := set.KeyWrite(context.Background(), jwk); err != nil {
		return nil, err
	}
	return set.JSONPublic(context.Background())
}
