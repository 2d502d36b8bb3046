package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// TestReadsThatDecideAreConsistent: in a table whose other reads miss the last changes, each of these finds what was just written.
func TestReadsThatDecideAreConsistent(t *testing.T) {
	ctx, now := context.Background(), fake.Start()
	d := fake.NewDynamo("main")
	d.StaleRead = 100
	table := store.Table{Name: "main", DynamoDB: d, Now: fake.Start}
	s := session.New("s", session.Chat, contract.Principal{Type: contract.UserPrincipal, ID: "ada"}, now).With(now)
	segment := snapshot.Segment{ID: snapshot.NextID(now, "", [16]byte{})}
	err := table.Commit(ctx, store.NewState(s), store.NewMessage("s", store.Message{Number: 1}), store.NewSegment("s", segment, now),
		store.NewEvents("s", session.Me{}, events(0, "a"), now.Add(time.Hour).Unix()))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := table.State(ctx, "s"); err != nil || got.Admitted != 1 {
		t.Errorf("State = %+v, %v", got, err)
	}
	if got, err := table.Inbox(ctx, "s", 1, 1); err != nil || len(got) != 1 {
		t.Errorf("Inbox = %v, %v", got, err)
	}
	if got, err := table.EventRows(ctx, "s", 0); err != nil || len(got) != 1 {
		t.Errorf("EventRows = %v, %v", got, err)
	}
	if got, err := table.History(ctx, "s", segment.ID); err != nil || got.Tip != segment.ID {
		t.Errorf("History = %+v, %v", got, err)
	}
}
