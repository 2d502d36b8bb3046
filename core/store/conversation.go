package store

import (
	"context"

	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// Hosted is the reason of a fault.Conflict: the session is run by the functions, which alone append to it. Send it a message.
const Hosted = "hosted"

// Conversation reads the history of a session that its caller runs itself, and Extend appends to it: what the TypeScript package
// wrote last is there too, and the functions go on with such a conversation when they get a message for it. Faults: Conflict
// (reason Hosted), Internal when a segment is missing, Unavailable.
func (t Table) Conversation(ctx context.Context, sessionID string) (snapshot.History, error) {
	s, err := t.State(ctx, sessionID)
	switch {
	case err == nil && !s.Expired(t.now()):
		return snapshot.History{}, hosted(sessionID)
	case err != nil && !fault.Is(err, fault.NotFound):
		return snapshot.History{}, err
	}
	return t.Written(ctx, sessionID)
}

func hosted(sessionID string) error {
	return fault.New(fault.Conflict, "session %s is run by the functions", sessionID).Because(Hosted)
}

// Written reads the history that a session's pointer names, whoever wrote it last; nothing said is an empty one. Faults: Internal
// when a segment is missing, Unavailable.
func (t Table) Written(ctx context.Context, sessionID string) (snapshot.History, error) {
	tip, err := t.Latest(ctx, sessionID)
	if err != nil || tip == "" {
		return snapshot.History{}, err
	}
	if _, ours := snapshot.Time(tip); ours {
		return t.History(ctx, sessionID, tip)
	}
	whole, _, err := t.wholeSnapshot(ctx, sessionID, tip)
	if err != nil && !fault.Is(err, fault.NotFound) { // the pointer may outlive what it names
		return snapshot.History{}, err
	}
	return snapshot.History{Messages: whole.Messages, State: whole.State, Tip: tip, Bytes: snapshot.Size(whole.Messages...) + len(whole.State)}, nil
}

// Latest is the id that a session's pointer names; "" when there is none, or its time is over. Faults: Unavailable.
func (t Table) Latest(ctx context.Context, sessionID string) (string, error) {
	var pointer segmentRow
	found, err := t.getInto(ctx, key.Latest(sessionID), &pointer)
	if err != nil || !found || pointer.ExpiresAt != 0 && pointer.ExpiresAt <= t.now().Unix() {
		return "", err
	}
	return pointer.SnapshotID, nil
}

// Extend appends what was said after h, as Conversation or an earlier Extend gave it, and gives the history as it is then: one
// transaction, whose answer may be lost. Faults: Conflict when another has appended meanwhile (or reason Hosted), Limit,
// Unavailable.
func (t Table) Extend(ctx context.Context, sessionID string, h snapshot.History, said ...model.Message) (snapshot.History, error) {
	now := t.now()
	s := snapshot.Segment{ID: snapshot.NextID(now, h.Tip, [16]byte(uuid.New())), Base: h.Tip, Messages: said}
	if _, ours := snapshot.Time(h.Tip); !ours { // nothing, or the package's one snapshot: from here on it is ours
		s.Full, s.Base, s.State = h.Tip != "", "", h.State
		s.Messages = append(h.Messages[:len(h.Messages):len(h.Messages)], said...)
	}
	next, err := h.Append(s)
	if err != nil {
		return h, err
	}
	asRead := cond.Eq("snapshotId", h.Tip)
	if h.Tip == "" {
		asRead = absentOrExpired(now.Unix())
	}
	pointer := PutLatest(sessionID, s.ID, now)
	pointer.cond = &asRead
	free := absentOrExpired(now.Unix())
	err = t.Commit(ctx, NewSegment(sessionID, s, now), pointer, Write{key: key.State(sessionID), cond: &free})
	if err == nil {
		return next, nil
	}
	if RefusedBy(err, key.State(sessionID)) {
		return h, hosted(sessionID)
	}
	if tip, readErr := t.Latest(ctx, sessionID); readErr == nil && tip == s.ID { // only the answer was lost
		return next, nil
	}
	return h, err
}

// withdrawn is how many rows Withdraw removes in the transaction that takes the messages back. The others go after it.
const withdrawn = 90

// Withdraw takes back all but the first keep messages of h, as Conversation or Extend gave it: the rows that hold the others are removed,
// and what stays of them is written anew. Faults: as Extend.
func (t Table) Withdraw(ctx context.Context, sessionID string, h snapshot.History, keep int) error {
	if keep >= len(h.Messages) {
		return nil
	}
	gone, err := t.holding(ctx, sessionID, h.Tip, len(h.Messages)-keep)
	if err != nil {
		return err
	}
	now, left := t.now(), ""
	asRead, free := cond.Eq("snapshotId", h.Tip), absentOrExpired(now.Unix())
	writes := []Write{{key: key.Latest(sessionID), del: true, cond: &asRead}, {key: key.State(sessionID), cond: &free}}
	rest := snapshot.Segment{ID: snapshot.NextID(now, h.Tip, [16]byte(uuid.New())), Full: true, Messages: h.Messages[:keep], State: h.State}
	if keep > 0 {
		pointer := PutLatest(sessionID, rest.ID, now)
		pointer.cond = &asRead
		writes[0] = pointer
		writes, left = append(writes, NewSegment(sessionID, rest, now)), rest.ID
	}
	most := min(withdrawn, len(gone))
	err = t.Commit(ctx, append(writes, gone[:most]...)...)
	switch {
	case RefusedBy(err, key.State(sessionID)):
		return hosted(sessionID)
	case fault.Is(err, fault.Conflict):
		return err
	case err != nil:
		if tip, readErr := t.Latest(ctx, sessionID); readErr != nil || tip != left { // else only the answer was lost
			return err
		}
	}
	for _, w := range gone[most:] {
		if err := t.Commit(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// holding gives the removals of the newest segments up to tip that hold so many messages, each after those of its parts. What the
// TypeScript package wrote is not removed.
func (t Table) holding(ctx context.Context, sessionID, tip string, messages int) ([]Write, error) {
	var gone []Write
	if _, ours := snapshot.Time(tip); !ours {
		return nil, nil
	}
	s := scope{pk: key.SessionPK(sessionID), keys: between(key.SnapshotPrefix, key.Snapshot("", tip).SK), backward: true, pageSize: 25}
	for row, err := range t.query(ctx, s) {
		if err != nil || messages <= 0 {
			return gone, err
		}
		segment, _, err := t.segment(ctx, row)
		if err != nil {
			return nil, err
		}
		if segment.ID != tip {
			continue
		}
		var h head
		if err := decode(row, &h); err != nil {
			return nil, err
		}
		for i := range h.Parts {
			gone = append(gone, remove(key.Part(keyOf(row), h.FirstPart+i)))
		}
		gone, tip, messages = append(gone, remove(keyOf(row))), segment.Base, messages-len(segment.Messages)
	}
	return gone, nil
}
