package upload

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/skill"
	"github.com/steadfast-agents/steadfast/core/store"
)

// Sessions gives sessions the skills that their owners have sent. It remembers what it has read: content is known by its digest,
// and by whose it is.
type Sessions struct {
	flow.Edges
	mu     sync.Mutex
	cached map[place]skill.Skill
	bytes  int
}

// place is where content is.
type place struct {
	owner        contract.Principal
	name, digest string
}

// pinned is a skill of a session's own list.
type pinned struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// maxCached bounds what a warm worker remembers, in bytes.
const maxCached = 16 << 20

// renewBefore is how long before its end content that is used is kept longer.
const renewBefore = 300 * 24 * time.Hour

// Of gives the skills of a session: those of its own list, which is that of its owner at the first turn that finds any. One that
// cannot be had any more is a finding. Idempotent. Faults: Unavailable.
func (s *Sessions) Of(ctx context.Context, sessionID string, p contract.Principal) ([]skill.Skill, []skill.Diagnostic, error) {
	list, err := s.pin(ctx, sessionID, p)
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	skills, missing := make([]skill.Skill, len(list)), make([]error, len(list))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i, one := range list {
		group.Go(func() (err error) {
			skills[i], err = s.one(inner, place{p, one.Name, one.Digest})
			if err != nil && !fault.Retryable(err) {
				missing[i], err = err, nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	var loaded []skill.Skill
	var found []skill.Diagnostic
	for i, one := range list {
		if missing[i] == nil {
			loaded = append(loaded, skills[i])
			continue
		}
		found = append(found, skill.Diagnostic{Severity: skill.Error, Path: "uploads/" + one.Name + "/" + skill.FileName, Code: skill.FileMissing,
			Text: "it cannot be read any more (" + fault.Public(missing[i]) + "); send it again", Skipped: true})
	}
	return loaded, found, nil
}

// pin gives the session's own list, and makes it when there is something to put on it.
func (s *Sessions) pin(ctx context.Context, sessionID string, p contract.Principal) ([]pinned, error) {
	sent, revision, err := read(ctx, s.Table, p)
	if err != nil || revision == 0 {
		return nil, err
	}
	for range 2 {
		text, there, err := s.Table.PinnedSkills(ctx, sessionID)
		if err != nil {
			return nil, err
		}
		var list []pinned
		if there {
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				return nil, fault.Wrap(fault.Internal, err, "read the skills of session %s", sessionID)
			}
			return list, nil
		}
		if len(sent) == 0 {
			return nil, nil
		}
		for _, l := range sent {
			list = append(list, pinned{l.Name, l.Digest})
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "encode the skills of session %s", sessionID)
		}
		err = s.Table.Commit(ctx, store.PinSkills(sessionID, string(raw), s.Now()))
		if err == nil {
			return list, nil
		}
		if !fault.Is(err, fault.Conflict) { // else another worker was faster: its list counts
			return nil, err
		}
	}
	return nil, fault.New(fault.Unavailable, "the skills of session %s change", sessionID)
}

// one reads a skill, and keeps it longer when its end nears.
func (s *Sessions) one(ctx context.Context, at place) (skill.Skill, error) {
	s.mu.Lock()
	known, ok := s.cached[at]
	s.mu.Unlock()
	if ok {
		return known, nil
	}
	body, expires, err := s.Table.Skill(ctx, at.owner, at.name, at.digest)
	if err != nil {
		return skill.Skill{}, err
	}
	if now := s.Now(); expires.Sub(now) < renewBefore {
		if err := s.Table.Commit(ctx, store.PutSkill(at.owner, at.name, at.digest, body, now)); err != nil {
			return skill.Skill{}, err
		}
	}
	one, err := made(at.name, body)
	if err != nil {
		return one, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+len(body) > maxCached || s.cached == nil {
		s.cached, s.bytes = map[place]skill.Skill{}, 0
	}
	s.cached[at] = one
	s.bytes += len(body)
	return one, nil
}
