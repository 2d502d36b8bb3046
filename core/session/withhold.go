package session

import "time"

// Withhold notes that a content filter blocked the open turn, and what it used: from now on it is only to be taken out of what is stored,
// and to end. p.Spent is what is not counted yet.
func (s State) Withhold(me Me, p Progress, now time.Time) Change {
	c := s.SavePart(me, p, now)
	c.To.Withheld = true
	return c
}
