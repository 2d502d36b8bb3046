package store

import (
	"context"
	"math/rand/v2"
	"strings"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// fileRow is the head of a file; its text is packed beside it or lies in parts.
type fileRow struct {
	Bytes     int64  `dynamodbav:"bytes"`
	Artifact  string `dynamodbav:"artifact,omitempty"`
	Revision  int64  `dynamodbav:"revision"`       // counts writes
	Turn      int64  `dynamodbav:"turn,omitempty"` // that wrote it last, or whose message brought it
	Part      int    `dynamodbav:"firstPart,omitempty"`
	Parts     int    `dynamodbav:"parts,omitempty"`
	ExpiresAt int64  `dynamodbav:"expiresAt,omitempty"`
}

// mostPart bounds the numbers of a file's parts: they have eight digits.
const mostPart = 90_000_000

// freshPart is the number of the first part of a new text: any, so that writers who meet do not write over each other's parts, and
// none of those that are read.
func freshPart(was fileRow) int {
	for {
		if n := 1 + rand.IntN(mostPart); n+maxParts <= was.Part || n >= was.Part+was.Parts {
			return n
		}
	}
}

// PutFile makes or replaces a file of a session; expires is the session's own, in seconds, or 0. A reader sees the old text or the
// new one, whole. Of two writers at once the later wins. Idempotent. Faults: Limit, Unavailable.
func (t Table) PutFile(ctx context.Context, sessionID, path, content string, expires int64) error {
	return t.PutFileOf(ctx, sessionID, 0, path, content, expires)
}

// PutFileOf is PutFile by a turn of the session, by its number, or by none, 0; with more that is written in the same moment or refuses
// it. Faults: also Conflict.
func (t Table) PutFileOf(ctx context.Context, sessionID string, turn int64, path, content string, expires int64, more ...Write) error {
	for {
		moved, err := t.replaceFile(ctx, key.File(sessionID, path), fileRow{Bytes: int64(len(content)), Turn: turn, ExpiresAt: expires}, content, more)
		if err != nil || !moved {
			return err
		}
	}
}

func (t Table) replaceFile(ctx context.Context, k key.Key, now fileRow, content string, more []Write) (moved bool, err error) {
	var was fileRow
	if _, err := t.getInto(ctx, k, &was); err != nil {
		return false, err
	}
	now.Artifact, now.Revision = was.Artifact, was.Revision+1
	row, err := encode(k, "File", now)
	w := Write{key: k, put: row, err: err, cond: new(cond.EqOrAbsent("revision", was.Revision))}
	first := freshPart(was)
	file := w.withBody("text", content, first, now.ExpiresAt)
	switch err := t.Commit(ctx, append([]Write{file}, more...)...); {
	case RefusedBy(err, k):
		t.dropParts(ctx, k, first, len(file.parts))
		return true, nil
	case fault.Is(err, fault.Conflict):
		t.dropParts(ctx, k, first, len(file.parts))
		return false, err
	case err != nil:
		return false, err
	}
	t.dropParts(ctx, k, was.Part, was.Parts)
	return false, nil
}

// dropParts removes parts that nobody reads any more; what is left behind goes with the session.
func (t Table) dropParts(ctx context.Context, k key.Key, first, n int) {
	for i := range n {
		_ = t.Commit(ctx, remove(key.Part(k, first+i)))
	}
}

// File reads a file of a session. Faults: NotFound, Unavailable.
func (t Table) File(ctx context.Context, sessionID, path string) (string, error) {
	for {
		row, err := t.get(ctx, key.File(sessionID, path))
		if err != nil {
			return "", err
		}
		if row == nil || expired(row, t.now()) {
			return "", fault.New(fault.NotFound, "no such file: %s", path)
		}
		content, err := t.body(ctx, row, "text")
		if !fault.Is(err, fault.Internal) {
			return content, err
		}
		if moved, err := t.fileMoved(ctx, sessionID, path, row); err != nil || !moved { // else its parts were replaced while they were read
			return "", fault.Wrap(fault.Internal, err, "the parts of %s are missing", path)
		}
	}
}

func (t Table) fileMoved(ctx context.Context, sessionID, path string, read item) (bool, error) {
	var was, is fileRow
	if err := decode(read, &was); err != nil {
		return false, err
	}
	_, err := t.getInto(ctx, key.File(sessionID, path), &is)
	return is.Revision != was.Revision, err
}

// Files describes a session's files, ordered by path. No text is read. Faults: Unavailable.
func (t Table) Files(ctx context.Context, sessionID string) ([]contract.FileInfo, error) {
	s := scope{pk: key.SessionPK(sessionID), keys: prefix(key.FilePrefix), only: []string{key.SK, key.ExpiresAt, "bytes", "artifact"}}
	var all []contract.FileInfo
	for row, err := range t.query(ctx, s) {
		if err != nil {
			return nil, err
		}
		var f fileRow
		if err := decode(row, &f); err != nil {
			return nil, err
		}
		if !expired(row, t.now()) {
			all = append(all, contract.FileInfo{Path: strings.TrimPrefix(text(row, key.SK), key.FilePrefix), Bytes: f.Bytes, Artifact: f.Artifact})
		}
	}
	return all, nil
}

// TagFile tags a file as an artifact. Idempotent. Faults: NotFound, Unavailable.
func (t Table) TagFile(ctx context.Context, sessionID, path, artifact string) error {
	err := t.Commit(ctx, TagFile(sessionID, path, artifact))
	if RefusedBy(err, key.File(sessionID, path)) {
		return fault.New(fault.NotFound, "no such file: %s", path)
	}
	return err
}

// TagFile is the write that tags a file as an artifact, refused if there is no such file.
func TagFile(sessionID, path, artifact string) Write {
	tag, err := attribute(artifact)
	return Write{key: key.File(sessionID, path), set: item{"artifact": tag}, cond: new(cond.Exists(key.PK)), err: err}
}
