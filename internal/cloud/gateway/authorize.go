package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// authorize is the JWT authorizer: signature (RSA), issuer, audience, and times without any leeway. It gives the
// token's claims as text, or nil and the challenge of the 401.
func (g *Gateway) authorize(r *http.Request) (map[string]string, string) {
	token := strings.TrimSpace(r.Header.Get("Authorization"))
	if scheme, rest, found := strings.Cut(token, " "); found && strings.EqualFold(scheme, "Bearer") {
		token = strings.TrimSpace(rest)
	}
	if token == "" {
		return nil, "Bearer"
	}
	claims := jwt.MapClaims{}
	if err := g.verify(token, claims); err != nil {
		return nil, fmt.Sprintf(`Bearer scope="" error="invalid_token" error_description=%q`, err.Error())
	}
	out := make(map[string]string, len(claims))
	for name, v := range claims {
		out[name] = claimText(v)
	}
	return out, ""
}

// verify fills claims. Its errors hold no part of the token.
func (g *Gateway) verify(token string, claims jwt.MapClaims) error {
	if g.Keys == nil {
		return errors.New("there are no keys to verify a token with")
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{"RS256", "RS384", "RS512"}), jwt.WithIssuer(g.Stack.HTTP.JWT.Issuer),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(g.now), jwt.WithJSONNumber(),
	)
	_, err := parser.ParseWithClaims(token, claims, g.Keys)
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return errors.New("the token has expired")
	case errors.Is(err, jwt.ErrTokenNotValidYet), errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return errors.New("the token is not valid yet")
	case errors.Is(err, jwt.ErrTokenInvalidIssuer), errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return errors.New("the token does not have a valid issuer and expiry")
	case err != nil:
		return errors.New("the token cannot be verified")
	}
	return g.checkAudience(claims)
}

// checkAudience holds aud, or client_id if there is no aud, against the configured audience.
func (g *Gateway) checkAudience(claims jwt.MapClaims) error {
	aud, err := claims.GetAudience()
	if client, ok := claims["client_id"].(string); ok && len(aud) == 0 {
		aud = jwt.ClaimStrings{client}
	}
	allowed := func(a string) bool { return slices.Contains(g.Stack.HTTP.JWT.Audience, a) }
	if err != nil || !slices.ContainsFunc(aud, allowed) {
		return errors.New("the token does not have a valid audience")
	}
	return nil
}

// claimText gives a claim as the HTTP API does: everything is text, a list is in brackets.
func claimText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		words := make([]string, len(v))
		for i, e := range v {
			words[i] = claimText(e)
		}
		return "[" + strings.Join(words, " ") + "]"
	}
	b, _ := json.Marshal(v) // decoded JSON always encodes
	return string(b)
}
