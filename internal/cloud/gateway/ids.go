package gateway

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/http"
	"strconv"
	"time"
)

// newID makes an id as API Gateway's of connections, requests and messages: 16 characters that end in "=", which has
// to be escaped in a path.
func newID() string {
	var b [11]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.URLEncoding.EncodeToString(b[:])
}

// traceID makes the value of X-Amzn-Trace-Id.
func traceID(now time.Time) string {
	var b [12]byte
	_, _ = rand.Read(b[:])
	return "Root=1-" + strconv.FormatInt(now.Unix(), 16) + "-" + hex.EncodeToString(b[:])
}

// clock is a time as events have it, in words and in milliseconds.
func clock(t time.Time) (string, int64) {
	return t.UTC().Format("02/Jan/2006:15:04:05 -0700"), t.UnixMilli()
}

func sourceIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
