package bedrock

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Marks of the offline model's own reasoning.
const (
	signaturePrefix = "offline-"
	sealPrefix      = "sealed:"
)

// sign makes the signature that a thought must come back with.
func sign(thought string) string {
	sum := sha256.Sum256([]byte(thought))
	return signaturePrefix + hex.EncodeToString(sum[:])
}

// seal makes opaque bytes of a thought: a mark, its hash, and a checksum of both.
func seal(thought string) []byte {
	hash := sha256.Sum256([]byte(thought))
	body := append([]byte(sealPrefix), hash[:]...)
	check := sha256.Sum256(body)
	return append(body, check[:]...)
}

// sealed reports whether data is unchanged since seal made it.
func sealed(data []byte) bool {
	n := len(data) - sha256.Size
	if n < 0 {
		return false
	}
	check := sha256.Sum256(data[:n])
	return bytes.Equal(data[n:], check[:])
}

// checkSigned refuses reasoning of the offline model that was changed on its way, as the service does. Reasoning of
// other origin is let through.
func checkSigned(req Request) *Error {
	for i, m := range req.Messages {
		for j, b := range m.Content {
			if b.Reasoning == nil {
				continue
			}
			t := b.Reasoning.Text
			forged := t != nil && strings.HasPrefix(t.Signature, signaturePrefix) && t.Signature != sign(t.Text)
			broken := bytes.HasPrefix(b.Reasoning.Redacted, []byte(sealPrefix)) && !sealed(b.Reasoning.Redacted)
			if forged || broken {
				return invalid("messages.%d.content.%d: Invalid `signature` in `thinking` block", i, j)
			}
		}
	}
	return nil
}
