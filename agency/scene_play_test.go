package agency_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// play does one step and gives what came of it.
func (s *scene) play(step scenarioStep) object {
	step.Task.DeliveryID = fmt.Sprint("delivery-", s.steps) // each on purpose: to send a failed task again is to want it run again
	s.steps++
	s.step, s.now, s.calls = step, step.Now, map[string]int{}
	s.log, s.ops, s.dispatches, s.completions, s.ran = []string{}, []object{}, []object{}, []object{}, false
	a := s.agents[cmp.Or(step.AgentType, s.first)]
	got := object{}
	var err error
	switch step.Do {
	case "task":
		var r task.Result
		r, err = a.Deliver(s.t.Context(), step.Task, "envelope")
		got["result"], got["ran"], got["ops"], got["completions"] = resultOf(r), s.ran, s.ops, s.completions
	case "route":
		if step.Event.DetailType == agency.CheckInDetailType && step.Event.Source == "" {
			step.Event.Source = a.Source() // here check-ins are believed only if the type sent them
		}
		var d []agency.Decision
		d, err = a.Route(s.t.Context(), step.Event)
		got["decisions"] = d
	case "checkInEvent":
		var e contract.RawEvent
		e, err = a.CheckInEvent(step.Now)
		event := object{"Source": e.Source, "DetailType": e.DetailType, "Detail": e.Detail}
		if s.bus != "" { // the bus is not the event's
			event["EventBusName"] = s.bus
		}
		got["event"] = event
	}
	if err != nil {
		delete(got, "result")
		delete(got, "decisions")
		got["error"] = errorOf(err)
	}
	got["dispatches"], got["log"] = s.dispatches, s.log
	return got
}

// documents gives what is stored in the form of the file.
func (s *scene) documents() []object {
	list := []object{}
	for k, d := range s.store.Documents() {
		value := plain(s.t, d.Value).(object)
		commitments, _ := value["commitments"].([]any)
		for _, c := range commitments {
			delete(c.(object), "taskDueAt") // an addition
		}
		list = append(list, object{"agentId": k.AgentID, "name": k.Name, "scope": k.Scope, "value": value})
	}
	order := func(o object) string { return fmt.Sprint(o["agentId"], "\x00", o["name"], "\x00", o["scope"]) }
	slices.SortFunc(list, func(a, b object) int { return cmp.Compare(order(a), order(b)) })
	return list
}

func (s *scene) tasks() []object {
	list := []object{}
	for _, t := range s.store.Tasks() {
		list = append(list, resultOf(t.Result()))
	}
	slices.SortFunc(list, func(a, b object) int { return cmp.Compare(a["taskId"].(string), b["taskId"].(string)) })
	return list
}

func TestConformancePersistent(t *testing.T) {
	conform(t, "persistent.json", func(t *testing.T, input json.RawMessage) any {
		in := read[struct {
			Fn          string
			Error       json.RawMessage
			Definitions []definitionData
			Steps       []scenarioStep
		}](t, input)
		if in.Fn == "isRetryableError" {
			return retryable(t, in.Error)
		}
		s := &scene{t: t, store: &agency.MemoryStore{}, agents: map[string]*agency.Agent{}, first: in.Definitions[0].Name, bus: in.Definitions[0].EventBusName}
		s.store.Now = func() time.Time { return s.now }
		s.scoped = slices.ContainsFunc(in.Steps, func(x scenarioStep) bool { return x.Scope != nil })
		for _, d := range in.Definitions {
			a, err := s.define(d)
			if err != nil {
				if !fault.Is(err, fault.Invalid) {
					t.Error(err)
				}
				return object{"defineError": true}
			}
			s.agents[d.Name] = a
		}
		steps := []object{}
		for _, step := range in.Steps {
			steps = append(steps, s.play(step))
		}
		got := object{"steps": steps, "documents": s.documents(), "tasks": s.tasks()}
		if gates := passed(s.store.Gates()); len(gates) > 0 {
			got["gates"] = gates
		}
		return got
	})
}

// retryable asks about an error as the file gives it: null and bare values are no errors here.
func retryable(t *testing.T, data json.RawMessage) bool {
	if string(data) == "null" || string(data) == "" {
		return agency.IsRetryable(nil)
	}
	if _, bare := read[map[string]json.RawMessage](t, data)["value"]; bare {
		return agency.IsRetryable(errors.New("bare"))
	}
	return agency.IsRetryable(thrown(t, data))
}
