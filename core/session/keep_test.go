package session_test

import (
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/session"
)

// TestKeep: a session lives on unless it is deleted or over, and never shorter than it would.
func TestKeep(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := session.New("s", session.Chat, contract.Principal{ID: "u"}, now)
	deleted, _ := s.Delete(now)
	tests := []struct {
		name  string
		state session.State
		after time.Duration
		until time.Time
		ok    bool
	}{
		{"at once", s, 0, now.Add(session.Life), true},
		{"later", s, 10 * 24 * time.Hour, now.Add(session.Life + 10*24*time.Hour), true},
		{"seen by a slow clock", s, -time.Hour, now.Add(session.Life), true},
		{"over", s, session.Life, now.Add(2 * session.Life), false},
		{"deleted", deleted.To, 0, now.Add(session.Life), false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c, ok := tc.state.Keep(now.Add(tc.after))
			if ok != tc.ok || c.To.ExpiresAt != tc.until.Unix() {
				t.Errorf("Keep until %s, %t, want %s, %t", time.Unix(c.To.ExpiresAt, 0).UTC(), ok, tc.until, tc.ok)
			}
		})
	}
}
