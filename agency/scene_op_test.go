package agency_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// handle is the handler of every kind: it does what the step says.
func (s *scene) handle(c *rawContext) (string, error) {
	s.ran = true
	if s.step.Handler == nil {
		return "ok", nil
	}
	for _, op := range s.step.Handler {
		name := read[string](s.t, op["op"])
		switch name {
		case "return":
			return read[string](s.t, op["output"]), nil
		case "throw":
			return "", thrown(s.t, op["error"])
		}
		result, err := s.op(c, name, op)
		if err != nil {
			s.ops = append(s.ops, object{"op": name, "result": object{"threw": errorOf(err)}})
			return "", err
		}
		s.ops = append(s.ops, object{"op": name, "result": result})
	}
	return "", nil
}

func thrown(t *testing.T, data json.RawMessage) error {
	e := read[scripted](t, data)
	if v, bare := read[map[string]any](t, data)["value"]; bare {
		return &scripted{Message: "Unknown error", bare: fmt.Sprint(v)}
	}
	return &e
}

func (s *scene) op(c *rawContext, name string, op map[string]json.RawMessage) (any, error) {
	t := s.t
	switch name {
	case "tick":
		s.now = s.now.Add(ms(read[float64](t, op["ms"])))
		return nil, nil
	case "promise":
		return s.promise(c, op["promise"])
	case "followUp":
		f := read[struct {
			Kind, Key, Request string
			Payload            any
			DelayMs            float64
		}](t, op["followUp"])
		return c.FollowUp(agency.FollowUp{Kind: f.Kind, Key: f.Key, Request: f.Request, Payload: f.Payload, Delay: ms(f.DelayMs)})
	case "advance":
		return c.AdvanceCommitment(read[string](t, op["id"]), eventOf(t, op["event"]))
	case "due":
		var change any
		if op["materialChange"] != nil {
			change = read[any](t, op["materialChange"])
		}
		s.due = c.DueCommitments(materialChange(change))
		return object{"resume": ids(s.due.Resume), "reconsider": ids(s.due.Reconsider)}, nil
	case "redispatch", "redispatchDue":
		return s.redispatch(c, name, op)
	case "lines":
		return c.AgendaLines(kindOf), nil
	case "commitment":
		com, ok := c.Commitment()
		if !ok {
			return nil, nil
		}
		return object{"id": com.ID, "status": com.Status}, nil
	case "context":
		o := object{"agentType": c.AgentType, "agentId": c.AgentID, "persona": c.Persona, "principal": c.Principal, "taskId": c.TaskID, "kind": c.Kind,
			"request": c.Request, "trigger": c.Trigger, "now": contract.At(c.Now), "scope": s.step.Scope, "payload": object{}}
		if c.Trigger.Payload != nil {
			o["payload"] = c.Trigger.Payload
		}
		return o, nil
	case "deliverAgain":
		r, err := s.agents[c.AgentType].Deliver(c, s.step.Task, "again")
		return resultOf(r), err
	}
	t.Fatalf("no op %q", name)
	return nil, nil
}

func (s *scene) promise(c *rawContext, data json.RawMessage) (any, error) {
	p := read[struct {
		Kind, Counterpart, Request, AgendaID string
		Source                               agency.Said
		Intent                               raw
		ExpiresAt                            contract.Instant
		Payload                              map[string]any
		DelayMs                              float64
	}](s.t, data)
	expires := agency.ReadDeadline(string(p.ExpiresAt))
	return c.Promise(agency.Promise[raw]{Kind: p.Kind, Counterpart: p.Counterpart, Request: p.Request, AgendaID: p.AgendaID, Source: p.Source,
		Intent: p.Intent, ExpiresAt: expires, Payload: p.Payload, Delay: ms(p.DelayMs)})
}

func (s *scene) redispatch(c *rawContext, name string, op map[string]json.RawMessage) (any, error) {
	mode, request := agency.RedispatchMode(read[string](s.t, op["mode"])), read[string](s.t, op["request"])
	if name == "redispatch" {
		for _, com := range c.Commitments {
			if com.ID == read[string](s.t, op["id"]) {
				return c.Redispatch(com, mode, request)
			}
		}
		return "not found", nil
	}
	list := s.due.Resume
	if mode == agency.Reconsider {
		list = s.due.Reconsider
	}
	answers := []bool{}
	for _, com := range list {
		ok, err := c.Redispatch(com, mode, request)
		if err != nil {
			return nil, err
		}
		answers = append(answers, ok)
	}
	return answers, nil
}
