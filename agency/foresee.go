package agency

import (
	"context"
	"log/slog"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// Foresee says what Route would come to as gates and pauses stand. Look-ups are made; nothing is written, sent or logged. Faults as
// Route.
func (h Hosted) Foresee(ctx context.Context, e contract.RawEvent) ([]Decision, error) {
	var looking Hosted
	for _, a := range h {
		dry := *a
		dry.store, dry.dispatcher = glance{a.store}, DispatchFunc(func(context.Context, AgentTask) error { return nil })
		dry.log = slog.New(slog.DiscardHandler)
		looking = append(looking, &dry)
	}
	return looking.Route(ctx, e)
}

// glance is a store on which nothing is reserved. It says that it is swept, for then everything goes by reservations.
type glance struct{ Store }

// Reserve implements Outbox.
func (g glance) Reserve(ctx context.Context, r Reservation) (Reserved, error) {
	for i, e := range r.Gates {
		p, taken, err := g.Look(ctx, r.Prefix, e.Slot)
		if err != nil {
			return Reserved{}, err
		}
		if taken && !p.lets(e) {
			return Reserved{Shut: &r.Gates[i]}, nil
		}
	}
	return Reserved{Owed: true}, nil
}

// Sent implements Outbox.
func (g glance) Sent(context.Context, string) error { return nil }

// Sweeps implements Outbox.
func (g glance) Sweeps() bool { return true }
