// Package identity says who a caller is: it finds the token that a client presented and verifies it as a token of
// one Cognito user pool and one app client. A caller exists only after Verify; nothing else of a request names one.
//
// Access tokens are told apart by client_id, ID tokens by aud, and an ID token passes only where it is asked for. A
// claim that is missing never passes. The pool's keys are fetched when first needed and again when a token names a
// key that is not among them; keys that cannot be fetched are a failure of ours (Unavailable), never a refusal.
//
// The package decides nothing about what a caller may do, and no error text of it holds any part of a token.
package identity

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// MaxTokenBytes is the longest token that is looked at. API Gateway accepts headers of 10,240 bytes at most.
const MaxTokenBytes = 16 << 10

// Use is what a token is for, its token_use claim.
type Use string

// The two uses that Cognito knows.
const (
	Access Use = "access"
	ID     Use = "id"
)

// Caller is who presented a verified token.
type Caller struct {
	Sub       string // stable id of the user, never empty
	Username  string // may be empty
	ClientID  string
	Use       Use
	Scopes    []string
	Groups    []string
	TokenID   string // jti, may be empty
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Verifier verifies tokens of one user pool and app client. Issuer and ClientID are required, all other fields have
// useful zero values. Do not copy or change it after the first Verify. It is safe for concurrent use.
type Verifier struct {
	Issuer       string           // exactly the iss claim; the keys are at Issuer + "/.well-known/jwks.json"
	ClientID     string           // the app client whose tokens are accepted
	AllowID      bool             // take ID tokens too, not only access tokens
	Leeway       time.Duration    // clock difference that is forgiven, in both directions. 0: 5 s, negative: none
	RefreshEvery time.Duration    // least time between two fetches of keys that went well. 0: 1 min
	Client       *http.Client     // fetches the keys. nil: one with a time-out of 5 s, that follows no redirect
	Now          func() time.Time // nil: time.Now

	once sync.Once
	keys *keySet
}

// claims are the claims of both kinds of token.
type claims struct {
	jwt.RegisteredClaims
	Use             Use      `json:"token_use"`
	ClientID        string   `json:"client_id"`
	Scope           string   `json:"scope"`
	Username        string   `json:"username"`
	CognitoUsername string   `json:"cognito:username"`
	Groups          []string `json:"cognito:groups"`
}

// Verify checks signature (RS256 only), issuer, client, use and times of token, and gives its caller. It may be called
// again with the same token. Faults: Denied for every token that is not good, with a reason such as "token_expired";
// Unavailable if the keys cannot be had right now; Internal if Issuer or ClientID is empty.
func (v *Verifier) Verify(ctx context.Context, token string) (Caller, error) {
	switch {
	case v.Issuer == "" || v.ClientID == "":
		return Caller{}, fault.New(fault.Internal, "verify token: issuer and client id must be set")
	case token == "":
		return Caller{}, deny("token_missing", "there is no token")
	case len(token) > MaxTokenBytes:
		return Caller{}, deny("token_malformed", "the token is longer than %d bytes", MaxTokenBytes)
	}
	v.once.Do(func() { v.keys = newKeySet(v) })
	var c claims
	if _, err := v.parser().ParseWithClaims(token, &c, v.keys.find(ctx)); err != nil {
		return Caller{}, refusal(err)
	}
	if err := v.check(c); err != nil {
		return Caller{}, err
	}
	return c.caller(), nil
}

// parser makes the parser that checks everything Cognito's two kinds of token have in common.
func (v *Verifier) parser() *jwt.Parser {
	return jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodRS256.Alg()}),
		jwt.WithIssuer(v.Issuer),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(v.leeway()),
		jwt.WithTimeFunc(v.now),
		jwt.WithStrictDecoding(),
	)
}

func (v *Verifier) leeway() time.Duration {
	if v.Leeway == 0 {
		return 5 * time.Second
	}
	return max(v.Leeway, 0)
}

func (v *Verifier) now() time.Time {
	if v.Now == nil {
		return time.Now()
	}
	return v.Now()
}

// check applies the rules that differ between the two kinds of token, and those for claims that must be there.
func (v *Verifier) check(c claims) error {
	switch {
	case c.Subject == "":
		return missing("sub")
	case c.IssuedAt == nil:
		return missing("iat")
	case c.Use == Access:
		return same("client_id", c.ClientID, v.ClientID)
	case c.Use == ID && v.AllowID:
		return v.checkAudience(c.Audience)
	case c.Use == ID:
		return deny("token_use", "this is an ID token, an access token is needed")
	case c.Use == "":
		return missing("token_use")
	}
	return deny("token_use", "the token is not for signing in")
}

func (v *Verifier) checkAudience(aud jwt.ClaimStrings) error {
	if len(aud) > 1 {
		return deny("token_client", "the token has more than one aud")
	}
	return same("aud", strings.Join(aud, ""), v.ClientID)
}

func same(claim, got, want string) error {
	switch got {
	case want:
		return nil
	case "":
		return missing(claim)
	}
	return deny("token_client", "the token is of another app client (%s)", claim)
}

func missing(claim string) error { return deny("token_claims", "the token has no %s", claim) }

func deny(reason, format string, args ...any) error {
	return fault.New(fault.Denied, format, args...).Because(reason)
}

// refusal translates the library's errors, whose texts may hold parts of a token, into ours. The first that fits wins.
func refusal(err error) error {
	if unavailable := (*fault.Error)(nil); errors.As(err, &unavailable) {
		return unavailable
	}
	for _, r := range []struct {
		is           error
		reason, text string
	}{
		{jwt.ErrTokenMalformed, "token_malformed", "the token is not a JWT"},
		{jwkset.ErrKeyNotFound, "token_key", "the token is signed with a key that the issuer does not have"},
		{jwt.ErrTokenSignatureInvalid, "token_signature", "the token's signature is not valid"},
		{jwt.ErrTokenInvalidIssuer, "token_issuer", "the token is of another issuer"},
		{jwt.ErrTokenExpired, "token_expired", "the token has expired"},
		{jwt.ErrTokenNotValidYet, "token_early", "the token is not valid yet"},
		{jwt.ErrTokenUsedBeforeIssued, "token_early", "the token was issued in the future"},
		{jwt.ErrTokenRequiredClaimMissing, "token_claims", "the token lacks a required claim"},
	} {
		if errors.Is(err, r.is) {
			return deny(r.reason, "%s", r.text)
		}
	}
	return deny("token_unverifiable", "the token cannot be verified")
}

func (c claims) caller() Caller {
	out := Caller{
		Sub: c.Subject, Username: c.Username, ClientID: c.ClientID, Use: c.Use,
		Scopes: strings.Fields(c.Scope), Groups: c.Groups, TokenID: c.RegisteredClaims.ID,
		IssuedAt: c.IssuedAt.Time, ExpiresAt: c.ExpiresAt.Time,
	}
	if c.Use == ID {
		out.Username, out.ClientID = c.CognitoUsername, strings.Join(c.Audience, "")
	}
	return out
}
