package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// corsHeaders sets the headers that cors grants to r's origin and reports whether CORS is configured at all. If it
// is, the gateway answers every OPTIONS itself.
func corsHeaders(h http.Header, r *http.Request, cors sam.CORS) bool {
	if len(cors.Origins) == 0 {
		return false
	}
	granted := grantedOrigin(cors.Origins, r.Header.Get("Origin"))
	if granted == "" {
		return true
	}
	h.Set("Access-Control-Allow-Origin", granted)
	if granted != "*" {
		h.Add("Vary", "Origin")
	}
	if r.Method != http.MethodOptions {
		setList(h, "Access-Control-Expose-Headers", cors.Expose)
		return true
	}
	setList(h, "Access-Control-Allow-Methods", cors.Methods)
	setList(h, "Access-Control-Allow-Headers", cors.Headers)
	if cors.MaxAge > 0 {
		h.Set("Access-Control-Max-Age", strconv.Itoa(cors.MaxAge))
	}
	return true
}

func setList(h http.Header, name string, values []string) {
	if len(values) > 0 {
		h.Set(name, strings.Join(values, ","))
	}
}

// grantedOrigin gives the value of Access-Control-Allow-Origin, or "" if origin is absent or not allowed. An entry may
// also be http://* or https://*.
func grantedOrigin(allowed []string, origin string) string {
	if origin == "" {
		return ""
	}
	for _, a := range allowed {
		scheme, isScheme := strings.CutSuffix(a, "://*")
		switch {
		case a == "*":
			return "*"
		case a == origin, isScheme && strings.HasPrefix(origin, scheme+"://"):
			return origin
		}
	}
	return ""
}
