package entry

import (
	"context"
	"log/slog"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/flow"
)

// Asked makes a handler of events that ask for something later: beside the detail, do gets the envelope's id and time. An error means
// that the event is delivered again.
func Asked[D any](log *slog.Logger, do func(context.Context, flow.Asked[D]) (flow.Outcome, error)) func(context.Context, contract.RawEvent) error {
	return func(ctx context.Context, e contract.RawEvent) error {
		return Event(log, nil, func(ctx context.Context, detail D, envelopeID string) error {
			outcome, err := do(ctx, flow.Asked[D]{Detail: detail, EventID: envelopeID, Time: e.Time})
			if err == nil {
				log.InfoContext(ctx, "asked for later", "detail-type", e.DetailType, "event", envelopeID, "outcome", outcome)
			}
			return err
		})(ctx, e)
	}
}
