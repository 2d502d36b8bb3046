package entry

import (
	"context"
	"log/slog"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Schedule makes a handler of schedule firings, which answers with their outcome. One that was asked for by hand is answered also when
// it is refused; an error of any other means that it is delivered again.
func Schedule(log *slog.Logger, do func(context.Context, contract.RunSchedule) (contract.ScheduleRan, error)) func(context.Context, contract.RawEvent) (contract.ScheduleRan, error) {
	return func(ctx context.Context, e contract.RawEvent) (contract.ScheduleRan, error) {
		var ran contract.ScheduleRan
		err := Event(log, nil, func(ctx context.Context, in contract.RunSchedule, _ string) (err error) {
			ran, err = do(ctx, in)
			if err != nil && in.Manual && !fault.Retryable(err) {
				ran.Error, ran.Code, err = fault.Public(err), word(err), nil
			}
			return err
		})(ctx, e)
		return ran, err
	}
}
