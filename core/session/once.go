package session

import "time"

// Hold keeps the open turn's step as it is and extends the lease: the part of STATE in the write before something that must not
// happen twice.
func (s State) Hold(me Me, now time.Time) Change {
	to := s
	to.LeaseUntil = now.Add(Lease).UnixMilli()
	return Change{s, to, s.saving(me)}
}
