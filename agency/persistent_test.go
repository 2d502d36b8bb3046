package agency_test

import (
	"context"
	"encoding/json"
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

func (f faulty) StartTask(ctx context.Context, r task.Request, c task.Claim) (t task.Task, err error) {
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
