package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/task"
)

// agentTask is a task of an agent as it stands.
type agentTask struct {
	TaskID  string           `json:"taskId"`
	Kind    string           `json:"kind"`
	Status  string           `json:"status"`
	Request string           `json:"request"`
	RunAt   contract.Instant `json:"runAt,omitempty"`
	Output  string           `json:"output,omitempty"`
	Error   string           `json:"error,omitempty"`
	Owed    string           `json:"owed,omitempty"`  // what somebody still waits for: a run, or to be told
	Usage   *contract.Usage  `json:"usage,omitempty"` // of its models; with costUsd where the price is known

	agentID string
	created int64
}

func viewTask(t task.Task) agentTask {
	v := agentTask{TaskID: t.TaskID, Status: string(t.Status), Request: t.Request, Output: t.Output, Error: t.Error, Usage: t.Usage, created: t.CreatedAt}
	var r task.Request
	if json.Unmarshal([]byte(t.Detail), &r) == nil && r.Trigger != nil {
		v.Kind, v.agentID, v.RunAt = r.Trigger.Kind, r.Trigger.AgentID, r.NotBefore
	}
	switch {
	case !t.Final():
		v.Owed = "run"
	case t.CompletionOwed != 0:
		v.Owed = "completion"
	}
	return v
}

// tasks gives an agent's tasks, oldest first: those that are known of it, and those that the sweep looks after.
func (st agencyStack) tasks(ctx context.Context, a *agency.Agent, agentID string, known []string) ([]agentTask, error) {
	ids := map[string]bool{}
	for _, id := range known {
		ids[id] = true
	}
	forever := time.Now().AddDate(100, 0, 0)
	for shard := range key.DueShards {
		rows, err := st.table.Due(ctx, shard, forever, 1000)
		if err != nil {
			return nil, err
		}
		for _, k := range rows {
			if r, ok := key.Parse(k); ok && (r.Kind == "task" || r.Kind == "dispatch") {
				ids[r.Parts[0]] = true
			}
		}
	}
	all := []agentTask{}
	for id := range ids {
		t, err := st.table.TaskOrNone(ctx, id)
		if err != nil {
			return nil, err
		}
		if v := viewTask(t); t.Status != "" && v.agentID == agentID && t.Source == a.Source() {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b agentTask) int {
		return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.TaskID, b.TaskID))
	})
	return all, nil
}

type agencyTasks struct {
	Agent string `arg:"" help:"The agent as type/agent, such as reviewer/ann."`
}

// Run implements the command.
func (t agencyTasks) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	in, tasks, err := c.Agency.inspect(ctx, c, t.Agent)
	if err != nil {
		return err
	}
	if s.json {
		return s.answer(map[string]any{"agentType": in.AgentType, "agentId": in.AgentID, "tasks": tasks}, "")
	}
	if len(tasks) == 0 {
		s.note("no tasks")
		return nil
	}
	return s.listTasks(tasks)
}

func (a agencyCommands) inspect(ctx context.Context, c *cli, name string) (in agency.Inspection, tasks []agentTask, err error) {
	st, err := a.stack(ctx, c)
	if err != nil {
		return in, nil, err
	}
	kind, agentID, err := st.agentOf(name)
	if err != nil {
		return in, nil, err
	}
	if in, err = kind.Inspect(ctx, agentID); err != nil {
		return in, nil, err
	}
	tasks, err = st.tasks(ctx, kind, agentID, in.Tasks)
	return in, tasks, err
}

func (s *surroundings) listTasks(tasks []agentTask) error {
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TASK\tKIND\tSTATUS\tRUNS AT\tCOST\tRESULT")
	for _, t := range tasks {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.TaskID, t.Kind, t.Status, cmp.Or(string(t.RunAt), "at once"), costOf(t.Usage), oneLine(cmp.Or(t.Output, t.Error)))
	}
	return w.Flush()
}

type agencyShow struct {
	Agent string `arg:"" help:"The agent as type/agent, such as reviewer/ann."`
}

// Run implements the command.
func (a agencyShow) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	in, tasks, err := c.Agency.inspect(ctx, c, a.Agent)
	if err != nil {
		return err
	}
	budgets, err := c.Agency.budgets(ctx, c, in)
	if err != nil {
		return err
	}
	owed := slices.DeleteFunc(slices.Clone(tasks), func(t agentTask) bool { return t.Owed == "" })
	if s.json {
		return s.answer(struct {
			agency.Inspection
			Usage   *contract.Usage `json:"usage,omitempty"`
			Budgets []agentBudget   `json:"budgets"`
			Owed    []agentTask     `json:"owed"`
		}{in, usageOf(tasks), budgets, owed}, "")
	}
	return s.showAgent(in, usageOf(tasks), budgets, owed)
}

// agentBudget is a budget that bounds an agent, and what its window has spent; dollars as text.
type agentBudget struct {
	Scope  string `json:"scope"`
	Spent  string `json:"spent"`
	Limit  string `json:"limit"`
	Period string `json:"period"`
}

func (a agencyCommands) budgets(ctx context.Context, c *cli, in agency.Inspection) ([]agentBudget, error) {
	st, err := a.stack(ctx, c)
	if err != nil {
		return nil, err
	}
	found, err := st.table.Budgets(ctx, agency.Spender{AgentType: in.AgentType, AgentID: in.AgentID}.Scopes()...)
	if err != nil {
		return nil, err
	}
	all := []agentBudget{}
	for _, b := range found {
		w, err := st.table.BudgetWindow(ctx, b)
		if err != nil {
			return nil, err
		}
		all = append(all, agentBudget{b.Scope, w.Spent.String(), b.Limit.String(), string(b.Period)})
	}
	return all, nil
}

// showAgent prints an agent for people.
func (s *surroundings) showAgent(in agency.Inspection, used *contract.Usage, budgets []agentBudget, owed []agentTask) error {
	state := "awake"
	if in.Paused {
		state = "paused"
	}
	s.print(nil, "%s/%s  %s", in.AgentType, in.AgentID, state)
	if in.Cap > 0 {
		s.print(nil, "  tasks      %d of %d in the window", in.Counted, in.Cap)
	}
	if used != nil {
		s.print(nil, "  used       %s, in the window", usageText(used))
	}
	for _, b := range budgets {
		s.print(nil, "  budget     %s: %s of %s for a %s", b.Scope, b.Spent, b.Limit, b.Period)
	}
	for _, kind := range slices.Sorted(maps.Keys(in.Gates)) {
		s.print(nil, "  woken      %s", woken(kind, in.Gates[kind], time.Now()))
	}
	s.showAgenda(in)
	if len(owed) == 0 {
		return nil
	}
	s.print(nil, "owed")
	for _, t := range owed {
		s.print(nil, "  %s  %s  %s of %s", t.Owed, t.Status, t.TaskID, t.Kind)
	}
	return nil
}

// woken says when an agent was woken last for a kind of task, and until when not again.
func woken(kind string, g agency.GateState, now time.Time) string {
	text := fmt.Sprintf("%s %s", kind, contract.At(g.At))
	switch {
	case g.At.After(now):
		text = fmt.Sprintf("%s waits for the end of the cooldown, %s", kind, contract.At(g.At))
	case g.Until.After(now):
		text += ", cooldown until " + string(contract.At(g.Until))
	}
	return text
}

// showAgenda prints goals and promises.
func (s *surroundings) showAgenda(in agency.Inspection) {
	s.print(nil, "agenda")
	for _, g := range in.Agenda.Goals {
		s.print(nil, "  %-10s %s", g.Status, g.ID)
	}
	s.print(nil, "promises")
	for _, c := range in.Commitments {
		why := ""
		if c.Decision != nil {
			why = "  " + c.Decision.Reason
		}
		s.print(nil, "  %-10s %s to %s%s", c.Status, c.ID, c.Counterpart, why)
	}
}
