package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// hands do what a handler asks for, and note which sessions it wrote to. They are safe for concurrent use.
type hands struct {
	RunSchedule
	id string
	at time.Time

	mu    sync.Mutex
	calls int
	wrote []string
}

// next names the next message or call of the firing.
func (h *hands) next() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	return firingDelivery(h.id, h.at, h.calls)
}

func (h *hands) sessions() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.wrote)
}

// Receive implements schedule.Hands.
func (h *hands) Receive(ctx context.Context, c schedule.Channel, m contract.Message) (contract.Delivery, error) {
	name := h.next()
	if m.DeliveryID == "" {
		m.DeliveryID = name
	}
	id, admission := c.Inbound()
	receipt, err := Receive{h.Edges}.Do(ctx, ReceiveIn{Channel: id, Admission: admission, Caller: schedule.Principal(h.id), Message: m})
	if err != nil {
		return receipt, fmt.Errorf("hand a message into channel %s: %w", id, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.wrote, receipt.SessionID) {
		h.wrote = append(h.wrote, receipt.SessionID)
	}
	return receipt, nil
}

// CallTool implements schedule.Hands.
func (h *hands) CallTool(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	use := h.next()
	if server, remote, ok := strings.Cut(name, "."); ok {
		if h.Host.MCP == nil {
			return nil, fault.New(fault.NotFound, "there are no MCP servers here, so no tool %q", name)
		}
		return h.Host.MCP(ctx, server, remote, input)
	}
	if h.Tools == nil {
		return nil, fault.New(fault.NotFound, "there is no tool %q", name)
	}
	return h.Tools.Do(ctx, h.log(), use, schedule.Principal(h.id), name, input)
}

// DispatchSchedule fires a schedule by hand, exactly once for each call, in the way that production does.
type DispatchSchedule struct{ RunSchedule }

// Do fires it and gives the sessions that it began or wrote to. Also where schedules are off. Faults: NotFound, Unavailable.
func (f DispatchSchedule) Do(ctx context.Context, scheduleID string) (contract.ScheduleRan, error) {
	at := f.Now().Truncate(time.Millisecond)
	if at.Equal(at.Truncate(time.Minute)) { // a firing of its own, not that of the clock
		at = at.Add(time.Millisecond)
	}
	return f.RunSchedule.Do(ctx, contract.RunSchedule{ScheduleID: scheduleID, At: contract.At(at), Manual: true})
}
