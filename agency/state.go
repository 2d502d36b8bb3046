package agency

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// A document is changed by whoever read its newest revision:
//
//	read (revision 4) ──▶ update ──▶ write if still 4 ──▶ revision 5
//	  ▲                                  │ moved
//	  └──────── wait a little ───────────┘ at most 8 times

// StateKey names a document of an agent. Scope may be empty: a tenure, a season.
type StateKey struct{ AgentID, Name, Scope string }

// Document is what is stored under a key. Revision 0: nothing yet.
type Document struct {
	Value    json.RawMessage
	Revision int64
}

// StateStore keeps documents.
type StateStore interface {
	// ReadState reads a document, consistently; the zero Document if there is none. Faults: Unavailable.
	ReadState(ctx context.Context, k StateKey) (Document, error)
	// WriteState writes the revision after d.Revision. Faults: Conflict when the document has another one, Limit, Unavailable.
	WriteState(ctx context.Context, k StateKey, d Document) error
}

// State is a document as it was read or written. The zero value of T stands for none.
type State[T any] struct {
	Value    T
	Revision int64
}

// ReadState reads a document. Faults: Internal when it cannot be read as a T, Unavailable.
func ReadState[T any](ctx context.Context, s StateStore, k StateKey) (State[T], error) {
	d, err := s.ReadState(ctx, k)
	if err != nil {
		return State[T]{}, fmt.Errorf("read %s of %s: %w", k.Name, k.AgentID, err)
	}
	v, err := decode[T](d, k)
	return State[T]{v, d.Revision}, err
}

func decode[T any](d Document, k StateKey) (v T, err error) {
	if d.Value == nil {
		return v, nil
	}
	if err := json.Unmarshal(d.Value, &v); err != nil {
		return v, fault.Wrap(fault.Internal, err, "document %s of %s", k.Name, k.AgentID)
	}
	return v, nil
}

// maxRaces bounds how often an update begins anew because others were faster.
const maxRaces = 8

// UpdateState changes a document. update may run again, so it must do nothing else; its error ends the update and nothing is written.
// Faults: Unavailable with reason "state_conflict" when others were faster every time, those of update, Limit, Internal, Unavailable.
func UpdateState[T any](ctx context.Context, s StateStore, k StateKey, update func(current T) (T, error)) (State[T], error) {
	var now State[T]
	err := racing(ctx, func() (err error) {
		now, err = updateOnce(ctx, s, k, update)
		return err
	})
	if err != nil {
		return State[T]{}, fmt.Errorf("update %s of %s: %w", k.Name, k.AgentID, err)
	}
	return now, nil
}

// racing repeats what a Conflict refused, after a pause that grows and differs.
func racing(ctx context.Context, try func() error) error {
	for n := 1; ; n++ {
		err := try()
		if !fault.Is(err, fault.Conflict) {
			return err
		}
		if n == maxRaces {
			return fault.New(fault.Unavailable, "others changed it %d times: %v", n, err).Because("state_conflict")
		}
		if err := pause(ctx, time.Duration(1+rand.Int64N(int64(10*time.Millisecond)<<n))); err != nil {
			return fault.Wrap(fault.Unavailable, err, "wait for others")
		}
	}
}

// within repeats what a Limit refused with less and less history: a document is not stuck because what is over does not fit beside what is
// not. The newest settled entry stays.
func within(history int, try func(history int) error) error {
	for {
		err := try(history)
		if !fault.Is(err, fault.Limit) || history <= 1 {
			return err
		}
		history /= 2
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func updateOnce[T any](ctx context.Context, s StateStore, k StateKey, update func(T) (T, error)) (State[T], error) {
	d, err := s.ReadState(ctx, k)
	if err != nil {
		return State[T]{}, err
	}
	current, err := decode[T](d, k)
	if err != nil {
		return State[T]{}, err
	}
	next, err := update(current)
	if err != nil {
		return State[T]{}, err
	}
	if d.Value, err = encode(next); err != nil {
		return State[T]{}, fault.Wrap(fault.Internal, err, "encode %s", k.Name)
	}
	return State[T]{next, d.Revision + 1}, s.WriteState(ctx, k, d)
}
