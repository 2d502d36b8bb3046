package agency_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/fault"
)

func ExampleUpdateState() {
	store, k := &agency.MemoryStore{}, agency.StateKey{AgentID: "rev-1", Name: "count"}
	for range 2 {
		s, err := agency.UpdateState(context.Background(), store, k, func(n int) (int, error) { return n + 1, nil })
		fmt.Println(s.Value, s.Revision, err)
	}
	// Output:
	// 1 1 <nil>
	// 2 2 <nil>
}

// Whoever was slower begins anew; nothing is lost.
func TestUpdateStateTogether(t *testing.T) {
	store, k := &agency.MemoryStore{}, agency.StateKey{AgentID: "a", Name: "n"}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				if _, err := agency.UpdateState(t.Context(), store, k, func(n int) (int, error) { return n + 1, nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if s, err := agency.ReadState[int](t.Context(), store, k); err != nil || s.Value != 100 || s.Revision != 100 {
		t.Errorf("ReadState = %+v, %v, want 100 at revision 100", s, err)
	}
}

// busy is a store in which somebody else is always faster.
type busy struct {
	agency.MemoryStore
	writes int
}

func (b *busy) WriteState(context.Context, agency.StateKey, agency.Document) error {
	b.writes++
	return fault.New(fault.Conflict, "moved")
}

func TestUpdateStateGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{}
		_, err := agency.UpdateState(t.Context(), b, agency.StateKey{AgentID: "a", Name: "n"}, func(n int) (int, error) { return n, nil })
		if !agency.IsRetryable(err) || fault.ReasonOf(err) != "state_conflict" || b.writes != 8 {
			t.Errorf("UpdateState = %v after %d writes, want a retryable state_conflict after 8", err, b.writes)
		}
	})
}
