package upload

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
	"github.com/steadfast-agents/steadfast/core/store"
)

// maxRaces bounds how often a change of the list starts over because others were faster.
const maxRaces = 10

// Push takes a skill, or another version of one. Idempotent: the same files again change nothing.
type Push struct{ flow.Edges }

// PushIn is the skill to keep.
type PushIn struct {
	Caller contract.Principal
	Name   string
	Files  []File
}

// Do checks the skill and keeps it. Sessions that begin from then on have it. Faults: Invalid (everything that is wrong with it), Limit
// (too many skills), Conflict (others change the list all the time), Unavailable.
func (f Push) Do(ctx context.Context, in PushIn) (Listed, error) {
	one, err := check(in.Name, in.Files)
	if err != nil {
		return Listed{}, err
	}
	body, err := json.Marshal(sorted(in.Files))
	if err != nil {
		return Listed{}, fault.Wrap(fault.Internal, err, "encode skill %s", in.Name)
	}
	now := f.Now()
	one.SentAt = contract.At(now)
	content := store.PutSkill(in.Caller, one.Name, one.Digest, string(body), now)
	same := false
	err = change(ctx, f.Table, in.Caller, func(list []Listed) ([]Listed, []store.Write, error) {
		i := slices.IndexFunc(list, func(l Listed) bool { return l.Name == one.Name })
		switch {
		case i >= 0 && list[i].Digest == one.Digest:
			one, same = list[i], true
			return nil, nil, nil
		case i >= 0:
			list[i] = one
		case len(list) >= MaxSkills:
			return nil, nil, fault.New(fault.Limit, "%d skills are the limit: remove one first", MaxSkills)
		default:
			list = append(list, one)
		}
		return list, []store.Write{content}, nil
	})
	if err == nil && same {
		err = f.Table.Commit(ctx, content) // its time may have been over
	}
	return one, err
}

// List reads what a principal has sent.
type List struct{ flow.Edges }

// ListOut is the list, by name.
type ListOut struct {
	Skills []Listed `json:"skills"`
}

// Do reads the list. Faults: Unavailable.
func (f List) Do(ctx context.Context, caller contract.Principal) (ListOut, error) {
	list, _, err := read(ctx, f.Table, caller)
	return ListOut{Skills: append([]Listed{}, list...)}, err
}

// Remove takes a skill from the list. Sessions that have it keep it. A second time it is not found.
type Remove struct{ flow.Edges }

// RemoveIn names the skill to remove.
type RemoveIn struct {
	Caller contract.Principal
	Name   string
}

// Do removes the skill. Faults: NotFound, Conflict, Unavailable.
func (f Remove) Do(ctx context.Context, in RemoveIn) (struct{}, error) {
	return struct{}{}, change(ctx, f.Table, in.Caller, func(list []Listed) ([]Listed, []store.Write, error) {
		i := slices.IndexFunc(list, func(l Listed) bool { return l.Name == in.Name })
		if i < 0 {
			return nil, nil, fault.New(fault.NotFound, "no such skill")
		}
		return slices.Delete(list, i, i+1), nil, nil
	})
}

func read(ctx context.Context, t store.Table, p contract.Principal) (list []Listed, revision int64, err error) {
	row, err := t.SkillList(ctx, p)
	if err != nil || row.Revision == 0 {
		return nil, 0, err
	}
	if err := json.Unmarshal([]byte(row.Text), &list); err != nil {
		return nil, 0, fault.Wrap(fault.Internal, err, "read the list of skills")
	}
	return list, row.Revision, nil
}

// change writes what next makes of the list, with the rows that belong to it, all or none. A nil list: nothing is to be written.
func change(ctx context.Context, t store.Table, p contract.Principal, next func([]Listed) ([]Listed, []store.Write, error)) error {
	var err error
	for range maxRaces {
		var list []Listed
		var revision int64
		if list, revision, err = read(ctx, t, p); err != nil {
			return err
		}
		changed, writes, wrong := next(list)
		if wrong != nil || changed == nil {
			return wrong
		}
		slices.SortFunc(changed, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
		text, wrong := json.Marshal(changed)
		if wrong != nil {
			return fault.Wrap(fault.Internal, wrong, "encode the list of skills")
		}
		err = t.Commit(ctx, append(writes, store.PutSkillList(p, store.SkillList{Text: string(text), Revision: revision}))...)
		if !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	return err
}
