package schedule

import (
	"context"
	"encoding/json"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Handler is a schedule written in Go. A firing is done when Run returns, and runs at most once: one whose process dies in the middle
// is reported, not repeated.
type Handler struct {
	ID       string // 1 to 48 lower-case letters, digits, - and _
	Cron     string // five fields
	TimeZone string // IANA name; "": UTC
	Run      func(ctx context.Context, run Run) error
}

func (h Handler) definition() (Definition, error) {
	d := Definition{ID: h.ID, Expression: h.Cron, TimeZone: h.TimeZone, Handler: &h}
	if h.Run == nil {
		return d, fault.New(fault.Invalid, "Run is missing")
	}
	return d, d.parse()
}

// Run is one firing of a handler.
type Run struct {
	ScheduleID string
	At         time.Time          // when it was due
	AppAuth    contract.Principal // who the schedule acts as: a system of its own
	Host       Host
	Hands      Hands // what Receive and CallTool do
}

// Host is what the program shares with its schedules.
type Host struct {
	Reminders Reminders // nil: there are none here
	// MCP calls a tool of one of the host's MCP servers; nil: there are none here.
	MCP func(ctx context.Context, server, tool string, input any) (json.RawMessage, error)
}

// Hands do what a firing asks for.
type Hands interface {
	Receive(ctx context.Context, c Channel, m contract.Message) (contract.Delivery, error)
	CallTool(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error)
}

// Channel is where work is handed into; a channel.Channel is one.
type Channel interface {
	Inbound() (id string, admission contract.Admission)
}

// Receive hands a message into a channel, as AppAuth: its turn runs, and the channel's events fire. Each call of a firing is one
// message, however often it is delivered. Faults: Invalid, Denied, NotFound, Conflict, Unavailable.
func (r Run) Receive(ctx context.Context, c Channel, m contract.Message) (contract.Delivery, error) {
	return r.Hands.Receive(ctx, c, m)
}

// CallTool calls a tool of the host, or <server>.<tool> of its MCP servers, and gives what it answers. No model is asked. Faults:
// NotFound, Invalid, the tool's own.
func (r Run) CallTool(ctx context.Context, name string, input any) (json.RawMessage, error) {
	raw, err := json.Marshal(input)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "input of %s", name)
	}
	if input == nil {
		raw = json.RawMessage(`{}`)
	}
	return r.Hands.CallTool(ctx, name, raw)
}

// Principal is who a schedule acts as.
func Principal(scheduleID string) contract.Principal {
	return contract.Principal{Type: contract.SystemPrincipal, ID: "schedule:" + scheduleID}
}
