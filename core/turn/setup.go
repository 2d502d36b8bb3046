package turn

import (
	"context"
	"encoding/json"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// setup is how a turn runs: the session's configuration, or a task's own words over it.
type setup struct {
	request model.Request
	tools   []tool.Tool
	servers map[string]contract.MCPServer // external ones, whose tools lend adds
	task    *task.Task                    // nil: not a task's turn, or its run is over
	memory  loop.Memory                   // of the user; nil: none
}

func (o *owner) setup(ctx context.Context) (setup, error) {
	config, bound, err := o.effective(ctx)
	if err != nil {
		return setup{}, err
	}
	s := setup{task: bound}
	s.request = model.Request{
		ModelID: config.ModelID, System: config.SystemPrompt, MaxTokens: config.MaxTokens, Temperature: config.Temperature,
	}
	if s.request.System == "" {
		s.request.System = o.Instructions
	}
	if s.request.System == "" {
		s.request.System = loop.DefaultSystemPrompt
	}
	s.tools, s.servers = o.Tools.Default(), config.MCPServers
	if config.Tools != nil {
		var unknown []string
		if s.tools, unknown = o.Tools.Pick(o.ownTools(config.Tools)...); len(unknown) > 0 {
			o.log.WarnContext(ctx, "unknown tools are left out", "tools", unknown)
		}
	}
	o.addMemory(&s, config)
	return s, o.addSkills(ctx, &s, config)
}

// effective is the configuration of the open turn, a task's own words over the session's, and the task if it has one whose run is still
// this one.
func (o *owner) effective(ctx context.Context) (config session.Config, bound *task.Task, err error) {
	if err := o.configure(ctx); err != nil {
		return config, nil, err
	}
	config = o.config.Config
	if o.state.Task != nil {
		if bound, err = o.boundTask(ctx, *o.state.Task); err != nil {
			return config, nil, err
		}
		if bound != nil {
			override(&config, *bound)
		}
	}
	return config, bound, nil
}

// unknownTools are the names of tools that the session, or the task of the turn, picked and nobody has.
func (o *owner) unknownTools(ctx context.Context, t *task.Task) (unknown []string, err error) {
	if ok, err := o.configured(ctx); !ok {
		return nil, err
	}
	config := o.config.Config
	if t != nil {
		override(&config, *t)
	}
	_, unknown = o.Tools.Pick(o.ownTools(config.Tools)...)
	for i, name := range unknown {
		unknown[i] = tool.Cut(name, model.MaxToolName)
	}
	return unknown, nil
}

// configured is configure before a turn begins: ok is false for a configuration that cannot be read, which is no reason not to begin. The
// turn will say so.
func (o *owner) configured(ctx context.Context) (ok bool, err error) {
	if err = o.configure(ctx); fault.Retryable(err) {
		return false, err
	}
	return err == nil, nil
}

// configuration is what was read of the session's configuration, once for an ownership.
type configuration struct {
	session.Config
	expires int64 // s; 0: there is none
	read    bool
}

// configure reads it. One that is not the principal's does not count: it was written under an id that somebody else already
// used.
func (o *owner) configure(ctx context.Context) error {
	if o.config.read {
		return nil
	}
	c, expires, err := o.Table.Config(ctx, o.id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if err != nil || c.UserID != o.state.Principal.ID {
		c, expires = session.Config{}, 0
	}
	o.config = configuration{c, expires, true}
	return nil
}

// override lets a task's own settings replace the session's.
func override(c *session.Config, t task.Task) {
	var r task.Request
	if json.Unmarshal([]byte(t.Detail), &r) != nil {
		return
	}
	if r.SystemPrompt != "" {
		c.SystemPrompt = r.SystemPrompt
	}
	if r.ModelID != "" {
		c.ModelID = r.ModelID
	}
	if r.Temperature != nil {
		c.Temperature = r.Temperature
	}
	if r.MaxTokens != 0 {
		c.MaxTokens = r.MaxTokens
	}
	if r.Tools != nil {
		c.Tools = r.Tools
	}
	if r.MCPServers != nil {
		c.MCPServers = r.MCPServers
	}
}
