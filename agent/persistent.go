package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Deployment is what the persistent agents live on. Table and Bus are required where Store and Dispatch are not given.
type Deployment struct {
	Table    store.Table
	Bus      bus.Bus
	Model    loop.Model                                           // nil where no task runs
	Meter    func(m loop.Model, scopes ...string) loop.Model      // puts a model under budgets; nil: none, see Metered
	Budget   agency.Budget                                        // nil: money is not looked at
	App      App                                                  // the reviewer's; nil: Rows
	Store    agency.Store                                         // nil: Table
	Later    func(ctx context.Context, r task.Request) error      // nil: "Schedule Event" on Bus
	Dispatch agency.Dispatcher                                    // nil: Bus
	Complete func(ctx context.Context, c agency.Completion) error // nil: Bus
	Now      func() time.Time                                     // nil: time.Now
	Log      *slog.Logger                                         // nil: discard
}

// Persistent are the persistent agent types that the functions agency-route, agency-task and agency-check-in host. Add yours here; the
// template needs its rules and schedule, which `steadfast agency template` prints. Faults: Invalid, naming all that is wrong.
func Persistent(d Deployment) (agency.Hosted, error) {
	if d.App == nil {
		d.App = Rows{Store: d.documents()}
	}
	reviewer, err := Reviewer{App: d.App, Model: d.Model, Meter: d.Meter, Log: d.Log}.Define(d)
	if err != nil {
		return nil, err
	}
	return agency.Host(reviewer)
}

func (d Deployment) documents() agency.StateStore {
	if d.Store != nil {
		return d.Store
	}
	return agency.TableStore{Table: d.Table}
}

// Metered is the deployment with the budgets of its table: tasks are not begun without money, and each call of the model reserves the
// most it can cost and settles what it did. Of as, the model's id, its MaxTokens and the prices count.
func (d Deployment) Metered(as loop.Meter) Deployment {
	as.Ledger, as.NewID, as.Recent = d.Table, uuid.NewString, &loop.BudgetCache{}
	d.Budget = agency.TableBudget{Table: d.Table}
	d.Meter = func(m loop.Model, scopes ...string) loop.Model {
		metered := as
		metered.Model, metered.Scopes = m, scopes
		return metered
	}
	return d
}
