package agency_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

type raw = agency.Raw
type rawContext = agency.Context[raw, raw, raw]

// definitionData is an agent type as the file gives it.
type definitionData struct {
	Name   string
	Agents map[string]struct {
		Persona raw
		Pacing  pacingData
	}
	Kinds                          []string
	Observe                        bool
	TaskCap                        json.RawMessage
	CommitmentLimits, AgendaLimits json.RawMessage
	IsRetryable                    string
	Principal                      *struct {
		Type   contract.PrincipalType
		Prefix string
	}
	Source       string
	EventBusName string
	Rules        map[string][]ruleData
	CheckIn      *struct {
		Agents   []string
		Schedule agency.CheckInSchedule
		Request  string
		Profile  json.RawMessage
	}
	ResponseDelays bool
}

type faultData struct {
	Method, Doc, When string
	Nth               int
	Error             *scripted
}

type scenarioStep struct {
	Do        string
	Now       time.Time
	Task      task.Request
	Event     contract.RawEvent
	AgentType string
	Paused    bool
	Scope     *string
	Observe   *struct {
		Needs  []agency.Need[raw]
		Epoch  any
		Closed bool
		TickMs float64
		Throw  *scripted
	}
	Faults  []faultData
	Handler []map[string]json.RawMessage
}

// scene runs a scenario: agent types over one store, step by step.
type scene struct {
	t      *testing.T
	store  *agency.MemoryStore
	agents map[string]*agency.Agent
	first  string
	bus    string
	scoped bool

	step  scenarioStep
	now   time.Time
	steps int
	calls map[string]int
	due   agency.Due[raw]

	log                     []string
	ran                     bool
	ops                     []object
	dispatches, completions []object
}

// fails counts a call and gives the error the step asks for, before or after it takes effect.
func (s *scene) fails(method, doc string, do func() error) error {
	key := method + " " + doc
	s.calls[key]++
	for _, f := range s.step.Faults {
		if f.Method != method || f.Doc != doc || f.Nth != 0 && f.Nth != s.calls[key] || f.Nth == 0 && s.calls[key] != 1 {
			continue
		}
		if f.When == "after" {
			if err := do(); err != nil {
				return err
			}
		}
		return f.Error
	}
	return do()
}

// faulty is the store with the step's errors. What the package keeps in its document of undelivered completions stands on the task here.
type faulty struct {
	*agency.MemoryStore
	s *scene
}

func (f faulty) ReadState(ctx context.Context, k agency.StateKey) (d agency.Document, err error) {
	err = f.s.fails("read", k.Name, func() error { d, err = f.MemoryStore.ReadState(ctx, k); return err })
	return d, err
}

func (f faulty) WriteState(ctx context.Context, k agency.StateKey, d agency.Document) error {
	return f.s.fails("update", k.Name, func() error { return f.MemoryStore.WriteState(ctx, k, d) })
}

func (f faulty) Reserve(ctx context.Context, r agency.Reservation) (got agency.Reserved, err error) {
	do := func() error { got, err = f.MemoryStore.Reserve(ctx, r); return err }
	for _, d := range r.Documents {
		inner := do
		do = func() error { return f.s.fails("update", d.Key.Name, inner) }
	}
	return got, do()
}

func (f faulty) StartTask(ctx context.Context, r task.Request, c task.ClaimBy) (t task.Task, err error) {
	err = f.s.fails("claim", "", func() error { t, err = f.MemoryStore.StartTask(ctx, r, c); return err })
	if fault.Is(err, fault.Conflict) && t.Final() {
		err = f.s.fails("read", f.s.undelivered(), func() error { return err })
	}
	return t, err
}

func (f faulty) FinishTask(ctx context.Context, t task.Task, r task.Result) error {
	return f.s.fails("finish", "", func() error { return f.MemoryStore.FinishTask(ctx, t, r) })
}

func (f faulty) GiveBackTask(ctx context.Context, t task.Task, reason string) error {
	return f.s.fails("finish", "", func() error { return f.MemoryStore.GiveBackTask(ctx, t, reason) })
}

func (f faulty) Announced(ctx context.Context, t task.Task) error {
	f.s.calls["update "+f.s.undelivered()]++
	return f.s.fails("update", f.s.undelivered(), func() error { return f.MemoryStore.Announced(ctx, t) })
}

func (s *scene) undelivered() string { return s.first + ".undelivered" }

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
