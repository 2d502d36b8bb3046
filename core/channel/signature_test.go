package channel_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/fault"
)

func TestVerify(t *testing.T) {
	secret, body, now := []byte("a secret of some length"), []byte(`{"text":"hi"}`), time.Unix(1_700_000_000, 0)
	signed := func(secret string, body string, at time.Time) string {
		header, err := channel.Sign([]byte(secret), []byte(body), at)
		if err != nil {
			t.Fatal(err)
		}
		return header
	}
	good := signed(string(secret), string(body), now)
	old := signed("another secret of length", string(body), now)
	_, signature, _ := strings.Cut(good, ",")
	tests := []struct {
		name, header string
		at           time.Time
		reason       string // "": taken
	}{
		{"fresh", good, now, ""},
		{"at the edge of the window", good, now.Add(channel.ReplayWindow), ""},
		{"replayed later", good, now.Add(channel.ReplayWindow + time.Second), "old_signature"},
		{"from the future", good, now.Add(-channel.ReplayWindow - time.Second), "old_signature"},
		{"secret being changed", old + "," + signature, now, ""},
		{"unknown parts", "v0=x, " + good, now, ""},
		{"another secret", old, now, "bad_signature"},
		{"another body", signed(string(secret), `{"text":"ho"}`, now), now, "bad_signature"},
		{"another time", "t=1700000001," + signature, now, "bad_signature"},
		{"no time", signature, now, "bad_signature"},
		{"no signature", "t=1700000000", now, "bad_signature"},
		{"not hex", "t=1700000000,v1=zz", now, "bad_signature"},
		{"empty signature", "t=1700000000,v1=", now, "bad_signature"},
		{"empty", "", now, "bad_signature"},
		{"the right one after too many", "t=1700000000" + strings.Repeat(",v1=00", 5) + "," + signature, now, "bad_signature"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := channel.Verify(secret, body, tt.header, tt.at)
			if fault.ReasonOf(err) != tt.reason || (err != nil) != (tt.reason != "") || err != nil && !fault.Is(err, fault.Denied) {
				t.Errorf("Verify(%q) = %v, want %q", tt.header, err, tt.reason)
			}
		})
	}
}

func TestAShortSecretIsRefused(t *testing.T) {
	if _, err := channel.Sign([]byte("short"), nil, time.Now()); !fault.Is(err, fault.Invalid) {
		t.Errorf("Sign = %v", err)
	}
	if err := channel.Verify(nil, nil, "t=1,v1=00", time.Unix(1, 0)); !fault.Is(err, fault.Invalid) {
		t.Errorf("Verify = %v", err)
	}
}

func FuzzASignatureFitsItsBodyAlone(f *testing.F) {
	secret, now := []byte("a secret of some length"), time.Unix(1_700_000_000, 0)
	f.Add([]byte("body"), []byte("bodY"))
	f.Fuzz(func(t *testing.T, body, other []byte) {
		header, err := channel.Sign(secret, body, now)
		if err != nil {
			t.Fatal(err)
		}
		if err := channel.Verify(secret, other, header, now); (err == nil) != bytes.Equal(body, other) {
			t.Errorf("the signature of %q for %q: %v", body, other, err)
		}
	})
}
