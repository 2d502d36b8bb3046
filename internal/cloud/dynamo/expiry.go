package dynamo

import (
	"strconv"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// oldestExpiry is how long past DynamoDB still takes an expiry for one.
const oldestExpiry = 5 * 365 * 24 * time.Hour

// reapLoop looks for expired rows and tokens once a minute.
func (f *Front) reapLoop() {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-f.stop:
			return
		case <-tick.C:
			if err := f.Reap(f.cfg.Now()); err != nil {
				f.cfg.Log.Error("expired rows stay", "error", err)
			}
		}
	}
}

// Reap deletes the rows that expired TTLDelay or longer before now, and forgets request tokens past their life. It may
// be called at any time; the service calls it once a minute.
func (f *Front) Reap(now time.Time) error {
	f.mu.Lock()
	for request, t := range f.tokens {
		if now.Sub(t.At) >= tokenLife {
			delete(f.tokens, request)
		}
	}
	var c change
	for _, t := range f.tables {
		c.writes = append(c.writes, f.expired(t, now)...)
	}
	position := f.commit(c)
	f.mu.Unlock()
	return f.journal.Wait(position)
}

func (f *Front) expired(t *table, now time.Time) []row {
	if t.spec.TTLAttribute == "" || f.cfg.TTLDelay < 0 {
		return nil
	}
	var out []row
	for _, part := range t.rows.parts {
		for _, it := range part {
			if expired(it[t.spec.TTLAttribute], now, f.cfg.TTLDelay) {
				out = append(out, row{table: t, old: it, key: it.Pick(t.keyNames()...)})
			}
		}
	}
	return out
}

// expired reports whether v, a number of seconds since 1970, is at least delay and less than five years before now.
func expired(v value.Value, now time.Time, delay time.Duration) bool {
	if v.Kind != value.Number {
		return false
	}
	sec, err := strconv.ParseInt(v.Num.String(), 10, 64)
	if err != nil {
		return false
	}
	age := now.Sub(time.Unix(sec, 0))
	return age >= delay && age < oldestExpiry
}
