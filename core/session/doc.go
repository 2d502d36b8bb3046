// Package session holds the rules of one conversation: who owns it, what may be admitted, when a turn begins and how it
// ends. Every transition is a pure function of (state, input, now) that gives the next state and the condition under which
// it may be written; the store writes both in one conditional write, so the table and not hope decides between rivals.
//
//	          Admit              Claim (fence+1)             Begin
//	idle ───────────▶ idle+pending ─────────▶ idle, owned ─────────▶ open
//	 ▲                                            ▲   ▲               │ Save, Take (step by step)
//	 │ EndRelease (nothing pending)               │   └── EndKeep ────┤ (something pending)
//	 ├────────────────────────────────────────────┼───────────────────┤
//	 │ Release (nothing pending)                  └── EndFlagged ─────┤ (stopped or preempted)
//	 └────────────────────────────────────────────┘                   │
//	                                     parked ◀── Park ─────────────┤
//	       pending, nobody's ◀── HandOff (time is short) ─────────────┘
//
// A task session has one turn and ends in done. Any phase may become deleted.
//
// There is no control flag that somebody must clear. Two numbers rise: a stop covers every admission up to StopSeq, a
// preempting message interrupts turns that began before its admission. Invariants:
//
//   - a session with work or an owner has a due time, so a dead owner or a lost trigger is found by the sweep;
//   - no write under a fence succeeds for two owners;
//   - an admitted message is in the inbox, in one prompt, in one nudge or in one notice that it was cancelled;
//   - whatever gives up the lease looks in its condition at what arrived meanwhile.
package session
