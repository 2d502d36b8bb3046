package store

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
)

// SkillList is a principal's list of uploaded skills, as JSON. Revision 0: there is none.
type SkillList struct {
	Text     string
	Revision int64
}

// SkillList reads a principal's list of uploaded skills. Faults: Unavailable.
func (t Table) SkillList(ctx context.Context, p contract.Principal) (SkillList, error) {
	var row struct {
		Revision int64  `dynamodbav:"revision"`
		Text     string `dynamodbav:"list"`
	}
	_, err := t.getInto(ctx, key.Skills(string(p.Type), p.ID), &row)
	return SkillList{row.Text, row.Revision}, err
}

// PutSkillList is the write of the revision after l.Revision, refused if the list has another one.
func PutSkillList(p contract.Principal, l SkillList) Write {
	w := create(key.Skills(string(p.Type), p.ID), "SkillList", struct {
		Revision int64  `dynamodbav:"revision"`
		Text     string `dynamodbav:"list"`
	}{l.Revision + 1, l.Text})
	if l.Revision > 0 {
		w.cond = new(cond.Eq("revision", l.Revision))
	}
	return w
}

// PutSkill is the write of a skill's files, as text, under the digest of their content. It may be written again: the row is the
// same but for its end, which only rises.
func PutSkill(p contract.Principal, name, digest, body string, now time.Time) Write {
	k, expires := key.Skill(string(p.Type), p.ID, name, digest), now.Add(session.RowLife).Unix()
	row, err := encode(k, "UploadedSkill", struct {
		Name      string `dynamodbav:"name"`
		Digest    string `dynamodbav:"digest"`
		ExpiresAt int64  `dynamodbav:"expiresAt"`
	}{name, digest, expires})
	return Write{key: k, put: row, err: err}.withBody("files", body, 0, expires)
}

// Skill reads a skill's files, and until when they are kept. Faults: NotFound, Internal when a part is missing, Unavailable.
func (t Table) Skill(ctx context.Context, p contract.Principal, name, digest string) (body string, expires time.Time, err error) {
	row, err := t.get(ctx, key.Skill(string(p.Type), p.ID, name, digest))
	if err != nil {
		return "", expires, err
	}
	if row == nil || expired(row, t.now()) {
		return "", expires, fault.New(fault.NotFound, "no such skill")
	}
	var head struct {
		ExpiresAt int64 `dynamodbav:"expiresAt"`
	}
	if err := decode(row, &head); err != nil {
		return "", expires, err
	}
	body, err = t.body(ctx, row, "files")
	return body, time.Unix(head.ExpiresAt, 0), err
}

// PinSkills is the write of the uploads that a session has, as JSON, refused if it has some already.
func PinSkills(sessionID, list string, now time.Time) Write {
	w := create(key.SessionSkills(sessionID), "SessionSkills", struct {
		List      string `dynamodbav:"list"`
		ExpiresAt int64  `dynamodbav:"expiresAt"`
	}{list, now.Add(session.RowLife).Unix()})
	w.cond = new(absentOrExpired(now.Unix()))
	return w
}

// PinnedSkills reads the list that PinSkills wrote; found is false if the session has none yet. Faults: Unavailable.
func (t Table) PinnedSkills(ctx context.Context, sessionID string) (list string, found bool, err error) {
	row, err := t.get(ctx, key.SessionSkills(sessionID))
	if err != nil || row == nil || expired(row, t.now()) {
		return "", false, err
	}
	return text(row, "list"), true, nil
}
