// Package channel connects other systems to conversations: how what they send becomes a message of a session, how they are told what
// happens there, and how both sides prove who they are.
package channel

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// SignatureHeader carries the signature of a webhook, in both directions: t=<Unix seconds>,v1=<hex of HMAC-SHA256 over "t.body">. It
// may name several v1, so that a secret can be changed without a gap.
const SignatureHeader = "Steadfast-Signature"

// ReplayWindow is how far a signature's time may lie from the receiver's, in either direction.
const ReplayWindow = 5 * time.Minute

// MinSecret is the shortest secret that signs or verifies, in bytes.
const MinSecret = 16

// maxSignatures bounds how many signatures of one header are compared.
const maxSignatures = 5

// Sign gives the header of a body sent at a time. Faults: Invalid if the secret is short.
func Sign(secret, body []byte, at time.Time) (string, error) {
	if len(secret) < MinSecret {
		return "", fault.New(fault.Invalid, "webhook secret: %d bytes, want at least %d", len(secret), MinSecret)
	}
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac(secret, t, body)), nil
}

func mac(secret []byte, t string, body []byte) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(t))
	h.Write([]byte{'.'})
	h.Write(body)
	return h.Sum(nil)
}

// Verify checks a header against the body as it came, byte for byte. It compares in constant time and tells a caller nothing but
// which of the header's parts it did not take. Faults: Denied; Invalid if the secret is short.
func Verify(secret, body []byte, header string, now time.Time) error {
	if len(secret) < MinSecret {
		return fault.New(fault.Invalid, "webhook secret: %d bytes, want at least %d", len(secret), MinSecret)
	}
	t, signatures := parse(header)
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil || len(signatures) == 0 {
		return fault.New(fault.Denied, "%s: want t=<Unix seconds>,v1=<hex>", SignatureHeader).Because("bad_signature")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > ReplayWindow || age < -ReplayWindow {
		return fault.New(fault.Denied, "%s: its time is more than %s from now", SignatureHeader, ReplayWindow).Because("old_signature")
	}
	want := mac(secret, t, body)
	for _, s := range signatures {
		if got, err := hex.DecodeString(s); err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return fault.New(fault.Denied, "%s: no signature fits the body", SignatureHeader).Because("bad_signature")
}

// parse reads the header's parts. What it does not know, it leaves.
func parse(header string) (t string, signatures []string) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case name == "t" && t == "":
			t = value
		case name == "v1" && len(signatures) < maxSignatures:
			signatures = append(signatures, value)
		}
	}
	return t, signatures
}
