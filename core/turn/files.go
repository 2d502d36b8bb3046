package turn

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/tool"
	"github.com/steadfast-agents/steadfast/core/workspace"
)

// fileRows are the session's files for one owner: what is written is written under its lease, and what is tagged is told with the
// results of the step. It is safe for concurrent use.
type fileRows struct {
	store.Table
	owner *owner
	turn  int64         // whose files they are; 0: of a call outside of any turn
	fence session.State // names the session and nothing else

	mu     sync.Mutex
	tagged []contract.ArtifactTagged
}

// maxTagged is how many files one step may tag: they share a transaction with its results.
const maxTagged = 20

func (o *owner) fileRows() *fileRows {
	rows := &fileRows{Table: o.Table, owner: o, fence: session.State{SessionID: o.id}}
	if o.state.Phase == session.Open {
		rows.turn = o.state.TurnSeq
	}
	return rows
}

// workspace is the session's files, over those of the program.
func (o *owner) workspace(rows *fileRows, seed fs.FS) workspace.Workspace {
	return workspace.Workspace{Rows: rows, SessionID: o.id, Expires: o.Now().Add(session.RowLife).Unix(), Seed: seed}
}

// PutFile writes a file and extends the lease, or neither. Faults: also Conflict when the session is another owner's.
func (r *fileRows) PutFile(ctx context.Context, sessionID, path, content string, expires int64) error {
	return r.PutFileOf(ctx, sessionID, r.turn, path, content, expires, store.ChangeState(r.fence.Renew(r.owner.me, r.owner.Now())))
}

// TagFile notes that a file of the session is to be tagged with the results of the step.
func (r *fileRows) TagFile(ctx context.Context, sessionID, path, artifact string) error {
	own, err := r.Files(ctx, sessionID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(own, func(f contract.FileInfo) bool { return f.Path == path })
	if at < 0 {
		return fault.New(fault.NotFound, "no such file: %s", path)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tagged = slices.DeleteFunc(r.tagged, func(t contract.ArtifactTagged) bool { return t.Path == path })
	if len(r.tagged) == maxTagged {
		return fault.New(fault.Limit, "%d files are tagged in this step, the limit is %d: tag the others in the next", len(r.tagged), maxTagged)
	}
	r.tagged = append(r.tagged, contract.ArtifactTagged{Path: path, Artifact: artifact, Bytes: own[at].Bytes})
	return nil
}

// tags gives what was tagged since it was last told, as events and as writes that go with them.
func (r *fileRows) tags() (data []contract.EventData, writes []store.Write) {
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tagged {
		data = append(data, t)
		writes = append(writes, store.TagFile(r.owner.id, t.Path, t.Artifact))
	}
	return data, writes
}

// told notes that the log says what tags gave.
func (r *fileRows) told() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tagged = nil
}

// keepFiles puts the files that messages bring into the session's workspace, before the messages are taken: whoever takes over puts
// them there again. It gives what the model is told of them. A file that finds no room is left out, and the model is told so.
func (o *owner) keepFiles(ctx context.Context, messages []store.Message) ([]model.Block, error) {
	rows := o.fileRows()
	if o.state.Phase == session.Idle && len(messages) > 0 { // they open the turn
		rows.turn = messages[len(messages)-1].Number
	}
	w := o.workspace(rows, nil)
	var kept, left []string
	for _, m := range messages {
		for _, path := range slices.Sorted(maps.Keys(m.Files)) {
			switch err := w.WriteFile(ctx, path, m.Files[path]); {
			case fault.Is(err, fault.Limit), fault.Is(err, fault.Invalid):
				left = append(left, path+" ("+fault.Public(err)+")")
			case err != nil:
				return nil, errors.Join(errReload, err)
			default:
				kept = append(kept, path)
			}
		}
	}
	var told []model.Block
	if len(kept) > 0 {
		told = append(told, model.Block{Text: "[Files in the workspace: " + strings.Join(unique(kept), ", ") + "]"})
	}
	if len(left) > 0 {
		told = append(told, model.Block{Text: "[Files that were not kept: " + strings.Join(left, ", ") + "]"})
	}
	return told, nil
}

// filesOf are the paths of the files that messages bring.
func filesOf(messages ...store.Message) []string {
	var all []string
	for _, m := range messages {
		all = append(all, slices.Collect(maps.Keys(m.Files))...)
	}
	return unique(all)
}

func unique(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

var _ tool.Files = workspace.Workspace{}
