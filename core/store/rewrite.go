package store

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/task"
)

// anew is added to the number of a body's first part when the body is written again: nobody may read old and new parts as one.
const anew = 50_000

// RewriteEvents gives the writes that put other data into events of a session from an index on. Rows, indexes and who wrote them stay.
// Parts of what was there go. A row that edit leaves as it is has no write. Faults: Unavailable.
func (t Table) RewriteEvents(ctx context.Context, sessionID string, from int64, edit func(*contract.SessionEvent)) ([]Write, error) {
	start, err := t.rowHolding(ctx, sessionID, from)
	if err != nil {
		return nil, err
	}
	var all []Write
	for row, err := range t.query(ctx, eventsFrom(sessionID, start)) {
		events, err := t.eventsOf(ctx, row, err)
		if err != nil {
			return nil, err
		}
		before, err := json.Marshal(events)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "encode %s", describe(keyOf(row)))
		}
		for i := range events {
			edit(&events[i])
		}
		after, err := json.Marshal(events)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "encode %s", describe(keyOf(row)))
		}
		writes, err := t.rewrite(ctx, row, "events", string(before), string(after))
		if err != nil {
			return nil, err
		}
		all = append(all, writes...)
	}
	return all, nil
}

// RewriteSegments gives the writes that put other messages into a session's history from one segment to another, both included. Ids
// and bases stay. edit gets all of them in their order, orphans among them; the last one is written first. Faults: Unavailable.
func (t Table) RewriteSegments(ctx context.Context, sessionID, from, to string, edit func([]snapshot.Segment)) ([]Write, error) {
	var rows []item
	var segments []snapshot.Segment
	var before []string
	s := scope{pk: key.SessionPK(sessionID), keys: between(key.Snapshot("", from).SK, key.Snapshot("", to).SK)}
	for row, err := range t.query(ctx, s) {
		if err != nil {
			return nil, err
		}
		segment, body, err := t.segment(ctx, row)
		if err != nil {
			return nil, err
		}
		rows, segments, before = append(rows, row), append(segments, segment), append(before, body)
	}
	edit(segments)
	var all []Write
	for i, row := range slices.Backward(rows) {
		after, err := snapshot.Encode(segments[i])
		if err != nil {
			return nil, err
		}
		writes, err := t.rewrite(ctx, row, "segment", before[i], string(after))
		if err != nil {
			return nil, err
		}
		all = append(all, writes...)
	}
	return all, nil
}

// rewrite gives the writes that put another body into a row, and of the parts that nobody reads any more.
func (t Table) rewrite(ctx context.Context, row item, name, before, after string) ([]Write, error) {
	k := keyOf(row)
	var all []Write
	kept := map[string]bool{}
	var h head
	if err := decode(row, &h); err != nil {
		return nil, err
	}
	if before != after {
		fresh := maps.Clone(row)
		for _, old := range []string{name, "parts", "firstPart"} {
			delete(fresh, old)
		}
		w := Write{key: k, put: fresh, cond: new(cond.Exists(key.PK))}.withBody(name, after, h.FirstPart+anew, int64(whole(row, key.ExpiresAt)))
		for _, p := range w.parts {
			kept[keyOf(p).SK] = true
		}
		all = append(all, w)
	} else {
		for i := range h.Parts {
			kept[key.Part(k, h.FirstPart+i).SK] = true
		}
	}
	for p, err := range t.query(ctx, scope{pk: k.PK, keys: prefix(key.PartsOf(k)), only: []string{key.PK, key.SK}}) {
		if err != nil {
			return nil, err
		}
		if part := keyOf(p); !kept[part.SK] {
			all = append(all, Write{key: part, del: true})
		}
	}
	return all, nil
}

// DropDetail gives the removal of what a task's detail kept in parts.
func DropDetail(t task.Task) []Write {
	if len(t.Detail) <= maxInline {
		return nil
	}
	var all []Write
	for i := range splitText(t.Detail) {
		all = append(all, Write{key: key.Part(key.Task(t.TaskID), firstPart("detail", t.Detail)+i), del: true})
	}
	return all
}

// RewriteInputs gives the writes that put an empty object in the place of what people were asked to approve in a turn. Faults: Unavailable.
func (t Table) RewriteInputs(ctx context.Context, sessionID string, turn int64) ([]Write, error) {
	var all []Write
	for row, err := range t.query(ctx, scope{pk: key.SessionPK(sessionID), keys: prefix(key.ApprovalPrefix)}) {
		if err != nil {
			return nil, err
		}
		var a session.Approval
		if err := decode(row, &a); err != nil {
			return nil, err
		}
		if a.TurnSeq != turn || a.RequestedAt == 0 {
			continue
		}
		before, err := t.body(ctx, row, "input")
		if err != nil {
			return nil, err
		}
		writes, err := t.rewrite(ctx, row, "input", before, "{}")
		if err != nil {
			return nil, err
		}
		all = append(all, writes...)
	}
	return all, nil
}

// DropFiles gives the removal of the files that turns from a number on wrote or whose messages brought them, the parts of each before it:
// who finds it again removes them again. Faults: Unavailable.
func (t Table) DropFiles(ctx context.Context, sessionID string, fromTurn int64) ([]Write, error) {
	var all []Write
	s := scope{pk: key.SessionPK(sessionID), keys: prefix(key.FilePrefix), only: []string{key.PK, key.SK, "turn", "parts", "firstPart"}}
	for row, err := range t.query(ctx, s) {
		if err != nil {
			return nil, err
		}
		var f fileRow
		if err := decode(row, &f); err != nil {
			return nil, err
		}
		if f.Turn == 0 || f.Turn < fromTurn {
			continue
		}
		for i := range f.Parts {
			all = append(all, remove(key.Part(keyOf(row), f.Part+i)))
		}
		all = append(all, remove(keyOf(row)))
	}
	return all, nil
}

// segment reads a row's piece of history, and the text that it stands in. Faults: Internal, Unavailable.
func (t Table) segment(ctx context.Context, row item) (snapshot.Segment, string, error) {
	body, err := t.body(ctx, row, "segment")
	if err != nil {
		return snapshot.Segment{}, "", err
	}
	segment, err := snapshot.Decode([]byte(body))
	return segment, body, err
}
