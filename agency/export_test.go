package agency

import (
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// For the conformance tests, which also ask what callers cannot see.

func ZonedTime(wall time.Time, zone *time.Location) time.Time { return zonedTime(wall, zone) }
func ZonedDate(at time.Time, zone *time.Location) string      { return zonedDate(at, zone) }

type Raw = json.RawMessage

func Reconcile(a Agenda[Raw], o Observation[Raw], l AgendaLimits) (Agenda[Raw], bool) {
	return reconcile(a, o, l, false)
}

func Open(b CommitmentBook[Raw], d CommitmentDraft[Raw], l CommitmentLimits) (CommitmentBook[Raw], OpenOutcome, string) {
	return open(b, d, l)
}

// ReadDeadline reads a deadline as the files give it: what cannot be read is none.
func ReadDeadline(text string) time.Time {
	t, _ := readTime(contract.Instant(text))
	return t
}
