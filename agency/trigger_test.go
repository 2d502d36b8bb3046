package agency_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

// scripted is an error a file asks for. It has what an SDK's errors have.
type scripted struct {
	Name, Message, Code string
	Retryable           any `json:"$retryable"`
	StatusCode          any `json:"statusCode"`
	bare                string
	HTTPStatus          any             `json:"httpStatusCode"`
	Marked              bool            `json:"retryable"`
	Metadata            *scriptedStatus `json:"$metadata"`
}

type scriptedStatus struct{ HTTPStatusCode int }

func (e *scripted) Error() string { return e.Message }

// ErrorCode is the code, or the name.
func (e *scripted) ErrorCode() string { return cmp.Or(e.Code, e.Name) }

func (e *scripted) HTTPStatusCode() int {
	if e.Metadata != nil {
		return e.Metadata.HTTPStatusCode
	}
	n, _ := e.StatusCode.(float64)
	if m, ok := e.HTTPStatus.(float64); ok {
		n = m
	}
	return int(n)
}

func (e *scripted) RetryableError() bool {
	return e.Marked || e.Retryable != nil && e.Retryable != false
}

// ruleData is a rule as the files give it.
type ruleData struct {
	Kind         string
	Agents       json.RawMessage
	Urgent       bool
	OncePerField *string
	Cooldown     *struct {
		Slot, MsField string
		Ms            float64
	}
	SharedCooldown *struct {
		Field string
		Ms    float64
	}
	Admit         map[string]string
	PayloadFields []string
	Delay         *struct {
		Profile        json.RawMessage
		DeadlineField  string
		BaseMs, StepMs float64
	}
}

// rule makes it a rule of this package.
func (r ruleData) rule(t *testing.T, detailType string) agency.Rule {
	return agency.On(detailType, r.Kind, func(_ context.Context, e agency.Event[map[string]any]) (agency.Wake, error) {
		w := agency.Wake{Agents: r.agents(t, e.Detail), Urgent: r.Urgent, Payload: r.payload(e.Detail), Cooldown: r.cooldown(e.Detail), Delay: r.delay(t, e.Detail)}
		w.For = func(agentID string, each *agency.Each) {
			each.Request = fmt.Sprintf("%s for %s (%s)", r.Kind, agentID, e.ID)
		}
		if r.OncePerField != nil {
			if v, there := e.Detail[*r.OncePerField]; there {
				w.OncePer = new(fmt.Sprint(v))
			}
		}
		if c := r.SharedCooldown; c != nil {
			if v, there := e.Detail[c.Field]; there {
				w.SharedCooldown = &agency.Cooldown{Slot: fmt.Sprint(v), Window: ms(c.Ms)}
			}
		}
		if r.Admit != nil {
			w.Admit = func(_ context.Context, agentID string) (bool, string, error) {
				reason, declined := r.Admit[agentID]
				return !declined, reason, nil
			}
		}
		return w, nil
	})
}

func (r ruleData) agents(t *testing.T, detail map[string]any) []string {
	if len(r.Agents) > 0 && r.Agents[0] == '[' {
		return read[[]string](t, r.Agents)
	}
	list, _ := detail[read[struct{ Field string }](t, r.Agents).Field].([]any)
	var all []string
	for _, a := range list {
		all = append(all, a.(string))
	}
	return all
}

func (r ruleData) payload(detail map[string]any) any {
	if r.PayloadFields == nil {
		return nil
	}
	p := object{}
	for _, f := range r.PayloadFields {
		if v, there := detail[f]; there {
			p[f] = v
		}
	}
	return p
}

func (r ruleData) cooldown(detail map[string]any) *agency.Cooldown {
	if r.Cooldown == nil {
		return nil
	}
	window := r.Cooldown.Ms
	if r.Cooldown.MsField != "" {
		window = detail[r.Cooldown.MsField].(float64)
	}
	return &agency.Cooldown{Slot: r.Cooldown.Slot, Window: ms(window)}
}

func (r ruleData) delay(t *testing.T, detail map[string]any) agency.Delayer {
	switch d := r.Delay; {
	case d == nil:
		return nil
	case d.Profile != nil:
		text, _ := detail[d.DeadlineField].(string)
		return agency.HumanDelay(profileOf(t, d.Profile), agency.ReadDeadline(text))
	default:
		return agency.DelayFunc(func(x agency.Delayed) time.Duration { return ms(d.BaseMs + float64(x.Index)*d.StepMs) })
	}
}

func rulesOf(t *testing.T, data map[string][]ruleData) []agency.Rule {
	var all []agency.Rule
	for detailType, rules := range data {
		for _, r := range rules {
			all = append(all, r.rule(t, detailType))
		}
	}
	return all
}

// pacingData is a pacing as the files give it.
type pacingData struct {
	CooldownMs    float64
	ResponseDelay *agency.ResponseDelayLever
}

func (p pacingData) pacing() agency.Pacing {
	return agency.Pacing{Cooldown: ms(p.CooldownMs), ResponseDelay: p.ResponseDelay}
}

// sentTask is a dispatch in the form of the files.
func sentTask(t agency.AgentTask) object {
	return object{
		"taskId": t.TaskID, "agentId": t.AgentID, "principal": t.Principal, "request": t.Request, "trigger": t.Trigger,
		"delayMs": t.Delay.Milliseconds(), "runAt": contract.At(t.RunAt),
	}
}

// notes is a log that keeps messages.
type notes struct {
	slog.Handler
	said *[]string
}

func (n notes) WithAttrs([]slog.Attr) slog.Handler       { return n }
func (n notes) Enabled(context.Context, slog.Level) bool { return true }
func (n notes) Handle(_ context.Context, r slog.Record) error {
	*n.said = append(*n.said, r.Message)
	return nil
}

// passed gives gates in the form of the files.
func passed(all map[string]agency.Passed) []object {
	list := []object{}
	for slot, p := range all {
		list = append(list, object{"slot": slot, "owner": p.Owner, "lastTriggeredAt": contract.At(p.At)})
	}
	slices.SortFunc(list, func(a, b object) int { return cmp.Compare(a["slot"].(string), b["slot"].(string)) })
	return list
}

type routeStep struct {
	Now           time.Time
	Event         contract.RawEvent
	DispatchFails []int
}

func TestConformanceTriggers(t *testing.T) {
	conform(t, "triggers.json", func(t *testing.T, input json.RawMessage) any {
		in := read[struct {
			Pacing         map[string]pacingData
			Rules          map[string][]ruleData
			ResponseDelays bool
			Sources        []string
			Steps          []routeStep
		}](t, input)
		gates := &agency.MemoryGates{}
		r := agency.Router{
			Rules: rulesOf(t, in.Rules), Gates: gates, ResponseDelays: in.ResponseDelays, Sources: in.Sources,
			Principal: func(agentID string) task.Principal { return task.System("svc/" + agentID) },
			Pacing: func(_ context.Context, agentID string) (agency.Pacing, error) {
				p, known := in.Pacing[agentID]
				if !known {
					return agency.Pacing{}, agency.ErrUnknownAgent
				}
				return p.pacing(), nil
			},
		}
		steps := []object{}
		for _, s := range in.Steps {
			steps = append(steps, s.route(t, r))
		}
		return object{"steps": steps, "gates": passed(gates.All())}
	})
}

func (s routeStep) route(t *testing.T, r agency.Router) object {
	logged, dispatches, calls := []string{}, []object{}, 0
	r.Log, r.Now = slog.New(notes{said: &logged}), func() time.Time { return s.Now }
	r.Dispatch = agency.DispatchFunc(func(_ context.Context, x agency.AgentTask) error {
		if calls++; slices.Contains(s.DispatchFails, calls) {
			return &scripted{Name: "ServiceUnavailableException", Message: "bus down"}
		}
		dispatches = append(dispatches, sentTask(x))
		return nil
	})
	decisions, err := r.Route(t.Context(), s.Event)
	got := object{"dispatches": dispatches, "logged": logged}
	if err != nil {
		got["error"] = errorOf(err)
	} else {
		got["decisions"] = decisions
	}
	return got
}

type gateOp struct {
	Op, Slot, Owner string
	Now             time.Time
	WindowMs        *float64
}

func (op gateOp) do(t *testing.T, g agency.Gates) bool {
	t.Helper()
	e := agency.Entry{Slot: op.Slot, Owner: op.Owner, Now: op.Now}
	if op.WindowMs != nil {
		e.Window = new(ms(*op.WindowMs))
	}
	ok, err := false, error(nil)
	if op.Op == "release" {
		ok, err = g.Release(t.Context(), op.Slot, op.Owner)
	} else {
		ok, err = g.Admit(t.Context(), e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// Gates in memory and in a table answer alike.
func TestConformanceGates(t *testing.T) {
	conform(t, "gates.json", func(t *testing.T, input json.RawMessage) any {
		in := read[struct{ Ops []gateOp }](t, input)
		memory, w := &agency.MemoryGates{}, newWorld(nil)
		w.clock.Set(in.Ops[0].Now)
		table := agency.TableGates{Table: w.table, Prefix: "p"}
		results := []bool{}
		for i, op := range in.Ops {
			ok := op.do(t, memory)
			if other := op.do(t, table); other != ok {
				t.Errorf("op %d: %v in memory, %v in the table", i+1, ok, other)
			}
			results = append(results, ok)
		}
		for slot, p := range memory.All() {
			if got, ok, err := (agency.TableStore{Table: w.table}).Look(t.Context(), "p", slot); !ok || err != nil || got.Owner != p.Owner || !got.At.Equal(p.At) {
				t.Errorf("%s: %+v, %v, %v in the table, %+v in memory", slot, got, ok, err, p)
			}
		}
		return object{"results": results, "state": passed(memory.All())}
	})
}

func ExampleRouter() {
	type opened struct{ Reviewers []string }
	r := agency.Router{
		Rules: []agency.Rule{agency.On("Pull Request Opened", "review", func(_ context.Context, e agency.Event[opened]) (agency.Wake, error) {
			return agency.Wake{Agents: e.Detail.Reviewers, Request: "Review it."}, nil
		})},
		Gates:    &agency.MemoryGates{},
		Pacing:   func(context.Context, string) (agency.Pacing, error) { return agency.Pacing{Cooldown: time.Hour}, nil },
		Dispatch: agency.DispatchFunc(func(_ context.Context, t agency.AgentTask) error { fmt.Println("to", t.AgentID, t.Request); return nil }),
	}
	for _, id := range []string{"evt-1", "evt-2"} {
		decisions, err := r.Route(context.Background(), contract.RawEvent{ID: id, DetailType: "Pull Request Opened", Detail: []byte(`{"reviewers":["ann"]}`)})
		fmt.Println(decisions[0].Decision, err)
	}
	// Output:
	// to ann Review it.
	// requested <nil>
	// cooldown <nil>
}

// One decision is one agent of one event, with gates in memory.
func BenchmarkRouterDecision(b *testing.B) {
	type opened struct{ Reviewers []string }
	r := agency.Router{
		Rules: []agency.Rule{agency.On("Opened", "review", func(_ context.Context, e agency.Event[opened]) (agency.Wake, error) {
			return agency.Wake{Agents: e.Detail.Reviewers, Request: "Review it.", Delay: agency.HumanDelay(agency.ConsideredDelay, time.Time{})}, nil
		})},
		Gates: &agency.MemoryGates{}, ResponseDelays: true,
		Pacing:   func(context.Context, string) (agency.Pacing, error) { return agency.Pacing{}, nil },
		Dispatch: agency.DispatchFunc(func(context.Context, agency.AgentTask) error { return nil }),
	}
	e := contract.RawEvent{ID: "evt-1", DetailType: "Opened", Detail: []byte(`{"reviewers":["ann"]}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Route(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}
