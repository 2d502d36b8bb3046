package store

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
)

// maxIndex is the last index that a key of 12 digits can hold.
const maxIndex = 999_999_999_999

// EventRow is one row of a session's log: consecutive events that were written together, and by whom.
type EventRow struct {
	Index     int64  `dynamodbav:"index"` // of its first event
	Count     int64  `dynamodbav:"count"`
	Owner     string `dynamodbav:"owner,omitempty"`
	Fence     int64  `dynamodbav:"fence"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// NewEvents is the write of events, of which there is at least one, at the index of the first. It is refused if something is
// there. expires is in seconds.
func NewEvents(sessionID string, me session.Me, events []contract.SessionEvent, expires int64) Write {
	k := key.Event(sessionID, events[0].Index)
	body, err := json.Marshal(events)
	if err != nil {
		return Write{key: k, err: fault.Wrap(fault.Internal, err, "encode events of %s", sessionID)}
	}
	w := create(k, "SessionEvents", EventRow{events[0].Index, int64(len(events)), me.Owner, me.Fence, expires})
	// A worker that lost its lease may still try to write this row: its parts have other numbers.
	return w.withBody("events", string(body), int(me.Fence%1000)*100_000, expires)
}

// EventRows reads the rows of a session's log whose first event has at least index from. Faults: Unavailable.
func (t Table) EventRows(ctx context.Context, sessionID string, from int64) ([]EventRow, error) {
	var rows []EventRow
	for row, err := range t.query(ctx, eventsFrom(sessionID, from)) {
		if err != nil {
			return nil, err
		}
		var e EventRow
		if err := decode(row, &e); err != nil {
			return nil, err
		}
		rows = append(rows, e)
	}
	return rows, nil
}

func eventsFrom(sessionID string, from int64) scope {
	from = min(max(from, 0), maxIndex) // beyond is nothing, and no valid range either
	return scope{pk: key.SessionPK(sessionID), keys: between(key.Event("", from).SK, key.Event("", maxIndex).SK)}
}

// EventRow reads one row. Faults: NotFound, Unavailable.
func (t Table) EventRow(ctx context.Context, sessionID string, index int64) (EventRow, error) {
	var e EventRow
	found, err := t.getInto(ctx, key.Event(sessionID, index), &e)
	if err == nil && !found {
		err = fault.New(fault.NotFound, "no event %d", index)
	}
	return e, err
}

// SessionEvents reads a session's events from index on, in order and without a gap. Those whose time is over are not there: the log
// begins after them. Faults: Unavailable.
func (t Table) SessionEvents(ctx context.Context, sessionID string, from int64) iter.Seq2[contract.SessionEvent, error] {
	return func(yield func(contract.SessionEvent, error) bool) {
		start, err := t.rowHolding(ctx, sessionID, from)
		if err != nil {
			yield(contract.SessionEvent{}, err)
			return
		}
		for row, err := range t.query(ctx, eventsFrom(sessionID, start)) {
			if err == nil && expired(row, t.now()) {
				continue
			}
			events, err := t.eventsOf(ctx, row, err)
			if err != nil {
				yield(contract.SessionEvent{}, err)
				return
			}
			for _, e := range events {
				if e.Index >= from && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// eventsBack are the rows from the one that holds an index back to the first.
func eventsBack(sessionID string, index int64, pageSize int32) scope {
	to := key.Event("", min(max(index, 0), maxIndex)).SK
	return scope{pk: key.SessionPK(sessionID), keys: between(key.EventPrefix, to), backward: true, pageSize: pageSize}
}

// TurnBegin gives the index of the event that opened the turn to which the event with the given index belongs. An index at the end
// of the log stands for itself, one beyond that for the last turn. Faults: Unavailable.
func (t Table) TurnBegin(ctx context.Context, sessionID string, index int64) (int64, error) {
	begin, turnID := index, ""
	for row, err := range t.query(ctx, eventsBack(sessionID, index, 25)) {
		events, err := t.eventsOf(ctx, row, err)
		if err != nil {
			return 0, err
		}
		for _, e := range slices.Backward(events) {
			switch {
			case e.Index > index:
			case turnID == "" && e.Index == index-1, turnID == "" && e.Index == index && e.TurnID == "":
				return index, nil
			case turnID == "":
				begin, turnID = e.Index, e.TurnID
			case e.TurnID != turnID:
				return begin, nil
			default:
				begin = e.Index
			}
		}
	}
	return begin, nil
}

// rowHolding gives the index of the row that holds the event with the given index.
func (t Table) rowHolding(ctx context.Context, sessionID string, index int64) (int64, error) {
	for row, err := range t.query(ctx, eventsBack(sessionID, index, 1)) {
		if err != nil {
			return 0, err
		}
		var e EventRow
		err := decode(row, &e)
		return e.Index, err
	}
	return index, nil
}

func (t Table) eventsOf(ctx context.Context, row item, err error) ([]contract.SessionEvent, error) {
	if err != nil {
		return nil, err
	}
	body, err := t.body(ctx, row, "events")
	if err != nil {
		return nil, err
	}
	var events []contract.SessionEvent
	if err := json.Unmarshal([]byte(body), &events); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "decode %s", describe(keyOf(row)))
	}
	return events, nil
}

func number[N int | int64](n N) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}
