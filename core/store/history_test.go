package store_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
)

// history writes segments of one message each.
type history struct {
	t *testing.T
	b bench
	n byte
}

// add writes a segment on base and gives its id.
func (h *history) add(base, text string, full bool) string {
	h.t.Helper()
	h.n++
	now := h.b.clock.Advance(time.Millisecond)
	id := snapshot.NextID(now, base, [16]byte{15: h.n})
	h.b.commit(h.t, store.NewSegment("s", snapshot.Segment{ID: id, Base: base, Full: full, Messages: []model.Message{model.Text(model.User, text)}}, now))
	return id
}

func (h *history) texts(tip string) string {
	h.t.Helper()
	got, err := h.b.History(h.t.Context(), "s", tip)
	if err != nil {
		h.t.Fatal(err)
	}
	all := ""
	for _, m := range got.Messages {
		all += m.PlainText()
	}
	return all
}

func TestHistoryFollowsItsChain(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		h := &history{t: t, b: b}
		a := h.add("", "a", false)
		c1 := h.add(a, "b", false)
		orphan := h.add(a, "X", false) // of an owner that lost its lease
		h.add(c1, "[F]", true)         // the same, a full one
		d := h.add(c1, "c", false)
		lost := h.add(orphan, "Y", false)
		full := h.add(d, "[a-c]", true)
		h.add(d, "Z", false)
		end := h.add(full, "d", false)
		tests := []struct{ name, tip, want string }{
			{"nothing was said", "", ""}, {"first", a, "a"}, {"past an orphan", d, "abc"}, {"an orphan's own chain", lost, "aXY"},
			{"a full segment", full, "[a-c]"}, {"after a full segment", end, "[a-c]d"},
		}
		for _, tt := range tests {
			if got := h.texts(tt.tip); got != tt.want {
				t.Errorf("%s: history %q, want %q", tt.name, got, tt.want)
			}
		}
	})
}

func TestAHistoryWithAGapIsRefused(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		h := &history{t: t, b: b}
		first := h.add("", "a", false)
		second := h.add(first, "b", false)
		third := h.add(second, "c", false)
		removeRow(t, b, key.Snapshot("s", second))
		for _, tip := range []string{third, second} {
			_, err := b.History(t.Context(), "s", tip)
			wants(t, "History with a missing segment", err, fault.Internal)
		}
	})
}

// A long history over many pages, of which some rows are no part of it. A session's other rows do not disturb.
func TestALongHistoryIsReadInPages(t *testing.T) {
	b := openFake(t)
	b.limitPages(3)
	h := &history{t: t, b: b}
	want, tip := "", ""
	for i := range 250 {
		text := fmt.Sprintf("%d,", i)
		tip = h.add(tip, text, false)
		if i%10 == 0 {
			h.add(tip, "orphan", false)
		}
		want += text
	}
	b.commit(t, store.PutLatest("s", tip, b.clock.Now()), store.NewState(session.New("s", session.Chat, user, b.clock.Now())))
	if got := h.texts(tip); got != want {
		t.Errorf("history %.60q..., want %.60q...", got, want)
	}
}

func TestASegmentIsWrittenOnce(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		segment := snapshot.Segment{ID: snapshot.NextID(b.clock.Now(), "", [16]byte{}), Messages: []model.Message{}, State: json.RawMessage(`{"e":[],"n":9007199254740993,"s":""}`)}
		b.commit(t, store.NewSegment("s", segment, b.clock.Now()))
		wants(t, "a second write", b.Commit(t.Context(), store.NewSegment("s", segment, b.clock.Now())), fault.Conflict)
		got, err := b.History(t.Context(), "s", segment.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(segment.State), string(got.State)); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
	})
}
