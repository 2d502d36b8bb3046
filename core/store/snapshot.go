package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// PackageSnapshotID is the id under which the TypeScript package keeps its one full snapshot.
const PackageSnapshotID = "latest"

type segmentRow struct {
	SnapshotID string `dynamodbav:"snapshotId"`
	Base       string `dynamodbav:"base,omitempty"`
	CreatedAt  int64  `dynamodbav:"createdAt"`
	ExpiresAt  int64  `dynamodbav:"expiresAt"`
}

// NewSegment is the write of a history segment.
func NewSegment(sessionID string, s snapshot.Segment, now time.Time) Write {
	k := key.Snapshot(sessionID, s.ID)
	body, err := snapshot.Encode(s)
	if err != nil {
		return Write{key: k, err: err}
	}
	expires := now.Add(session.RowLife).Unix()
	return create(k, "Snapshot", segmentRow{s.ID, s.Base, now.UnixMilli(), expires}).withBody("segment", string(body), 0, expires)
}

// PutLatest is the write of the pointer to a session's newest snapshot.
func PutLatest(sessionID, snapshotID string, now time.Time) Write {
	k := key.Latest(sessionID)
	row, err := encode(k, "SnapshotPointer", segmentRow{SnapshotID: snapshotID, CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(session.Life).Unix()})
	return Write{key: k, put: row, err: err}
}

// PutPackageSnapshot is the write of a whole history in the TypeScript package's shape, as it stands at tip. Faults: Limit when
// it does not fit into one row.
func PutPackageSnapshot(sessionID, tip string, h snapshot.Strands, now time.Time) Write {
	k := key.Snapshot(sessionID, PackageSnapshotID)
	data, err := h.Encode()
	if err != nil {
		return Write{key: k, err: err}
	}
	value, err := fromJSON(data)
	if err != nil {
		return Write{key: k, err: err}
	}
	row, err := encode(k, "Snapshot", segmentRow{SnapshotID: PackageSnapshotID, CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(session.Life).Unix()})
	if err == nil {
		row["snapshot"], row["tip"] = value, &types.AttributeValueMemberS{Value: tip}
		if n := itemBytes(row); n > MaxItemBytes {
			err = fault.New(fault.Limit, "the conversation takes %d bytes in the TypeScript package's format, the limit is %d", n, MaxItemBytes)
		}
	}
	return Write{key: k, put: row, err: err}
}

// PackageSnapshot reads the whole history as the TypeScript package wrote it, and at which tip of ours it was written: "" when
// the package wrote it last. Faults: NotFound, Internal, Unavailable.
func (t Table) PackageSnapshot(ctx context.Context, sessionID string) (h snapshot.Strands, tip string, err error) {
	id, err := t.Latest(ctx, sessionID)
	if err != nil {
		return h, "", err
	}
	if id == "" {
		return h, "", fault.New(fault.NotFound, "no snapshot")
	}
	return t.wholeSnapshot(ctx, sessionID, id)
}

// wholeSnapshot reads a history that lies in one row, in the package's shape, and our tip at which it was written.
func (t Table) wholeSnapshot(ctx context.Context, sessionID, id string) (h snapshot.Strands, tip string, err error) {
	row, err := t.get(ctx, key.Snapshot(sessionID, id))
	if err != nil {
		return h, "", err
	}
	value, ok := row["snapshot"]
	if !ok || expired(row, t.now()) {
		return h, "", fault.New(fault.NotFound, "no full snapshot")
	}
	data, err := json.Marshal(toJSON(value))
	if err != nil {
		return h, "", fault.Wrap(fault.Internal, err, "read the snapshot of %s", sessionID)
	}
	h, err = snapshot.DecodeStrands(data)
	return h, text(row, "tip"), err
}

// History reads a session's history as it stands at tip, from the last full segment on. Faults: Internal when a segment is
// missing, Unavailable.
func (t Table) History(ctx context.Context, sessionID, tip string) (snapshot.History, error) {
	if tip == "" {
		return snapshot.History{}, nil
	}
	var segments []snapshot.Segment
	s := scope{pk: key.SessionPK(sessionID), keys: between(key.SnapshotPrefix, key.Snapshot("", tip).SK), backward: true, pageSize: 100}
	want := tip
	for row, err := range t.query(ctx, s) {
		if err != nil {
			return snapshot.History{}, err
		}
		if text(row, "snapshotId") != want {
			continue // an orphan of an owner that lost its lease, or another writer's
		}
		segment, _, err := t.segment(ctx, row)
		if err != nil {
			return snapshot.History{}, err
		}
		segments = append(segments, segment)
		if want = segment.Base; segment.Full || want == "" {
			break
		}
	}
	return snapshot.Assemble(segments, tip)
}
