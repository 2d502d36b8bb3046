package agency_test

import (
	"cmp"
	"context"
	"log/slog"
	"regexp"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/task"
)

// define makes an agent type of its data.
func (s *scene) define(d definitionData) (*agency.Agent, error) {
	def := agency.Definition[raw, raw, raw]{
		Name: d.Name, Source: d.Source, Store: faulty{s.store, s}, NoResponseDelays: !d.ResponseDelays, Log: slog.New(notes{said: &s.log}),
		Now:    func() time.Time { return s.now },
		Paused: func(context.Context) (bool, error) { return s.step.Paused, nil },
		Profile: func(_ context.Context, agentID string) (p agency.Profile[raw], err error) {
			err = s.fails("profile", "", func() error {
				a, known := d.Agents[agentID]
				if !known {
					return agency.ErrUnknownAgent
				}
				p = agency.Profile[raw]{Persona: a.Persona, Pacing: a.Pacing.pacing()}
				return nil
			})
			return p, err
		},
		Tasks: map[string]func(*rawContext) (string, error){}, Dispatch: agency.DispatchFunc(s.dispatch), Complete: s.complete,
	}
	for _, kind := range d.Kinds {
		def.Tasks[kind] = s.handle
	}
	if d.Observe {
		def.Observe = s.observe
	}
	if s.scoped {
		def.Scope = func(context.Context, string) (scope string, err error) {
			err = s.fails("scope", "", func() error {
				if s.step.Scope != nil {
					scope = *s.step.Scope
				}
				return nil
			})
			return scope, err
		}
	}
	s.limits(d, &def)
	for detailType, rules := range d.Rules {
		for _, r := range rules {
			def.Rules = append(def.Rules, r.rule(s.t, detailType))
		}
	}
	if c := d.CheckIn; c != nil {
		def.CheckIn = &agency.CheckIn{Schedule: c.Schedule, Request: c.Request, Agents: func(context.Context) ([]string, error) { return c.Agents, nil }}
		if c.Profile != nil {
			def.CheckIn.Profile = new(profileOf(s.t, c.Profile))
		}
	}
	return agency.Define(def)
}

func (s *scene) limits(d definitionData, def *agency.Definition[raw, raw, raw]) {
	def.AgendaLimits, def.CommitmentLimits = limitsOf(s.t, d.AgendaLimits), commitmentLimitsOf(s.t, d.CommitmentLimits)
	switch {
	case string(d.TaskCap) == "null":
		def.TaskCap = agency.NoTaskCap
	case d.TaskCap != nil:
		c := read[struct {
			Max      int
			WindowMs float64
		}](s.t, d.TaskCap)
		def.TaskCap, def.TaskCapWindow = orRefused(c.Max), time.Duration(orRefused(int(ms(c.WindowMs))))
	}
	switch d.IsRetryable {
	case "never":
		def.IsRetryable = func(error) bool { return false }
	case "always":
		def.IsRetryable = func(error) bool { return true }
	}
	if p := d.Principal; p != nil {
		def.Principal = func(agentID string) task.Principal { return task.Principal{Type: p.Type, ID: p.Prefix + agentID} }
	}
}

// orRefused makes a zero that the file means as one a value that is refused; the zero of a definition is the default.
func orRefused(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func (s *scene) dispatch(_ context.Context, t agency.AgentTask) error {
	return s.fails("dispatch", "", func() error { s.dispatches = append(s.dispatches, sentTask(t)); return nil })
}

func (s *scene) complete(_ context.Context, c agency.Completion) error {
	return s.fails("complete", "", func() error {
		s.completions = append(s.completions, object{
			"result":  resultOf(c.Task.Result()),
			"context": object{"agentId": c.AgentID, "principal": c.Task.Principal, "kind": c.Kind},
		})
		return nil
	})
}

// resultOf is a result in the form of the file: what does not apply is left out.
func resultOf(r task.Result) object {
	o := object{"taskId": r.TaskID, "status": r.Status}
	switch r.Status {
	case task.Completed:
		o["output"] = r.Output
	case task.Failed:
		o["error"] = cmp.Or(otherWords[r.Error], where.ReplaceAllString(r.Error, ""))
	}
	return o
}

// where is what errors say here about the place they come from.
var where = regexp.MustCompile(`(update|read|scope|profile|dispatch|reviewer.commitments) [^:]*: `)

// otherWords are texts that the file words in another way.
var otherWords = map[string]string{
	"Run Agent Task needs a taskId": "Run Agent Task for a persistent agent needs a trigger with kind and agentId",
}

func (s *scene) observe(c *rawContext) (agency.Observation[raw], error) {
	o := s.step.Observe
	if o == nil {
		return agency.Observation[raw]{None: true}, nil
	}
	s.now = s.now.Add(ms(o.TickMs))
	if o.Throw != nil {
		return agency.Observation[raw]{}, o.Throw
	}
	return observed{Needs: o.Needs, Epoch: o.Epoch, Closed: o.Closed}.observation(), nil
}
