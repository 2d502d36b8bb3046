package main

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// who names the caller, to remember sessions by: the user of the dev host, else the subject of the token. The token is
// not verified here; nothing is allowed by this name.
func (c *cli) who() string {
	if c.JWT == "" {
		return c.User
	}
	parts := strings.Split(c.JWT, ".")
	if len(parts) != 3 {
		return "token"
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Sub string `json:"sub"`
	}
	if err != nil || json.Unmarshal(raw, &claims) != nil || claims.Sub == "" {
		return "token"
	}
	return claims.Sub
}
