package identity

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

// Scheme is the subprotocol that a client offers beside Scheme + "." + base64url(token), because a browser cannot set
// a header on a WebSocket. The answer to the handshake names Scheme alone, so that the token is never sent back.
const Scheme = "base64UrlBearerAuthorization"

// TokenFrom finds the token in what API Gateway hands over of a request: headers (one value each), multi (all values
// of each; may be nil) and query. The Authorization header (Bearer) wins over the subprotocol, and that over the query
// parameter "token"; a source that is there but unreadable is not replaced by a later one, the token is then "". Names
// of headers and schemes are taken in any case.
//
// subprotocol is the scheme name just as the client offered it, to be echoed, or "" if it was not offered.
func TokenFrom(headers map[string]string, multi map[string][]string, query map[string]string) (token, subprotocol string) {
	offered, subprotocol := offers(values(headers, multi, "Sec-WebSocket-Protocol"))
	for _, v := range values(headers, multi, "Authorization") {
		if t, ok := bearer(v); ok {
			return t, subprotocol
		}
	}
	if offered != "" {
		return decode(offered), subprotocol
	}
	return strings.TrimSpace(query["token"]), subprotocol
}

// Subprotocol is what a client offers, beside Scheme, to present token.
func Subprotocol(token string) string {
	return Scheme + "." + base64.RawURLEncoding.EncodeToString([]byte(token))
}

// values gives all values of the header name, in any spelling, split at commas and trimmed. multi is preferred: of a
// header that was sent twice, headers holds one value only.
func values(headers map[string]string, multi map[string][]string, name string) []string {
	var found []string
	for _, k := range slices.Sorted(maps.Keys(multi)) {
		if strings.EqualFold(k, name) {
			found = append(found, multi[k]...)
		}
	}
	if len(found) == 0 {
		for _, k := range slices.Sorted(maps.Keys(headers)) {
			if strings.EqualFold(k, name) {
				found = append(found, headers[k])
			}
		}
	}
	var out []string
	for v := range strings.SplitSeq(strings.Join(found, ","), ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// bearer gives the token of an Authorization value with the scheme Bearer.
func bearer(value string) (string, bool) {
	words := strings.Fields(value)
	if len(words) != 2 || !strings.EqualFold(words[0], "Bearer") {
		return "", false
	}
	return words[1], true
}

// offers gives the first offered token, still encoded, and the scheme name as it was offered.
func offers(protocols []string) (encoded, scheme string) {
	for _, p := range protocols {
		name, rest, dotted := strings.Cut(p, ".")
		switch {
		case !strings.EqualFold(name, Scheme):
		case !dotted && scheme == "":
			scheme = p
		case dotted && encoded == "":
			encoded = rest
		}
	}
	return encoded, scheme
}

// decode gives "" for what is not base64url.
func decode(encoded string) string {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
