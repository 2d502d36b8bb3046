// Package task holds the rules of one "do something" run: who may claim it, how it ends, when it is told. Every transition
// is a pure function of (task, input, now) that gives the next record and the condition under which it may be written.
//
//	           Create                 Claim (a handler) or Bind (a session's turn)
//	absent ───────────▶ PENDING ───────────────────────────▶ RUNNING ──▶ COMPLETED   final
//	   │                   │                                  │  │
//	   └── Claim, Bind ────┼──────────────────────────────────┘  ├────▶ FAILED       a new delivery may run it again
//	                       └── Refuse, Exhaust ──▶ FAILED        └────▶ FAILED, retryable (GiveBack): any delivery may
//	Cancel, from PENDING, RUNNING or retryable ──▶ FAILED, cancelled   final
//
// Invariants:
//
//   - each claim raises the fence, and only the holder of the fence finishes the run;
//   - a delivery whose run failed for good never runs again (FailedBy);
//   - a final state owes its completion until the bus has taken it (CompletionOwed), and no claim passes over that;
//   - COMPLETED and cancelled never change.
package task
