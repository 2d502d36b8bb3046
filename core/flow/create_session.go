package flow

import (
	"context"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// CreateSession makes a chat session for a user.
type CreateSession struct {
	Edges
	MCPHosts contract.MCPHosts // hosts that MCP servers may have
}

// CreateSessionIn is what to make. CreatedBy names the call: the same again gets the first answer.
type CreateSessionIn struct {
	Config    session.Config // UserID is the verified caller; an empty SessionID is made
	CreatedBy string
}

// CreateSessionOut is what the owner needs to use the new session.
type CreateSessionOut struct {
	SessionID         string `json:"sessionId"`
	Title             string `json:"title"`
	ContinuationToken string `json:"continuationToken"`
}

// Config is the configuration that a request asks for.
func Config(c contract.CreateSession) session.Config {
	return session.Config{
		SessionID: c.SessionID, UserID: c.UserID, Title: c.Title, SystemPrompt: c.SystemPrompt, ModelID: c.ModelID,
		Temperature: c.Temperature, MaxTokens: c.MaxTokens, Tools: c.Tools, MCPServers: c.MCPServers,
	}
}

// Do makes the session. Idempotent for the same CreatedBy. Faults: Invalid, Conflict (another session has the id), Unavailable.
func (f CreateSession) Do(ctx context.Context, in CreateSessionIn) (CreateSessionOut, error) {
	if in.Config.SessionID == "" {
		in.Config.SessionID = f.NewID()
	}
	if in.CreatedBy == "" {
		in.CreatedBy = f.NewID()
	}
	if err := in.Config.Validate(f.MCPHosts); err != nil {
		return CreateSessionOut{}, err
	}
	return racing(ctx, func() (CreateSessionOut, bool, error) { return f.try(ctx, in) })
}

func (f CreateSession) try(ctx context.Context, in CreateSessionIn) (CreateSessionOut, bool, error) {
	now := f.Now()
	s := session.New(in.Config.SessionID, session.Chat, task.User(in.Config.UserID), now)
	s.CreatedBy, s.Token = in.CreatedBy, f.NewID()
	err := f.Table.Commit(ctx,
		store.NewState(s), store.NewConfig(in.Config, now), store.PutListing(s, in.Config.Title),
		store.NewEvents(s.SessionID, session.Me{}, []contract.SessionEvent{started(s, now)}, expires(now)))
	if err == nil {
		return CreateSessionOut{s.SessionID, in.Config.Title, s.Token}, true, nil
	}
	there, exists, refused := store.RefusedState(err, s.SessionID)
	switch {
	case refused && exists && there.Expired(now) && there.Phase != session.Deleted && !there.Work(now):
		return CreateSessionOut{}, false, f.revive(ctx, s.SessionID)
	case !refused && store.RefusedBy(err, key.Event(s.SessionID, 0)):
		return CreateSessionOut{}, false, f.clear(ctx, s.SessionID) // what is left of an earlier session of this id, whose time is over
	case refused && exists && there.CreatedBy == in.CreatedBy:
		return CreateSessionOut{there.SessionID, in.Config.Title, there.Token}, true, nil
	case refused && exists && there.CreatedBy == "" && there.Principal == s.Principal && there.Phase != session.Deleted:
		return f.configure(ctx, in, there)
	case fault.Is(err, fault.Conflict):
		return CreateSessionOut{}, false, fault.New(fault.Conflict, "session %s exists already", s.SessionID)
	}
	return CreateSessionOut{}, false, err
}

// configure gives a configuration to a session that its owner's first message has brought to life already. It counts from the
// next turn.
func (f CreateSession) configure(ctx context.Context, in CreateSessionIn, there session.State) (CreateSessionOut, bool, error) {
	err := f.Table.Commit(ctx, store.NewConfig(in.Config, f.Now()), store.ChangeState(there.Created(in.CreatedBy)))
	switch {
	case err == nil:
		return CreateSessionOut{there.SessionID, in.Config.Title, there.Token}, true, nil
	case store.RefusedBy(err, key.Config(there.SessionID)):
		return CreateSessionOut{}, false, fault.New(fault.Conflict, "session %s exists already", there.SessionID)
	case fault.Is(err, fault.Conflict):
		return CreateSessionOut{}, false, nil
	}
	return CreateSessionOut{}, false, err
}
