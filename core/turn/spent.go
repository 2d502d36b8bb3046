package turn

import (
	"context"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
)

// spent is what the open turn's saved steps used, whoever owned it then.
func (o *owner) spent(ctx context.Context) contract.Usage {
	return o.bill(ctx, modelUsage(o.state.Spent))
}

// bill is what the open turn used, with what it cost. Where it cannot be read which model the turn asks, nobody knows the cost.
func (o *owner) bill(ctx context.Context, used model.Usage) contract.Usage {
	bill := wireUsage(used)
	if o.asks.turn != o.state.TurnSeq {
		if _, _, err := o.effective(ctx); err != nil {
			return bill
		}
	}
	bill.CostUSD = loop.CostOf(o.Model, o.asks.modelID, used)
	return bill
}

func spentOf(u model.Usage) session.Spent {
	return session.Spent{In: int64(u.InputTokens), Out: int64(u.OutputTokens), Read: int64(u.CacheReadTokens), Written: int64(u.CacheWriteTokens)}
}

func modelUsage(s session.Spent) model.Usage {
	return model.Usage{InputTokens: int(s.In), OutputTokens: int(s.Out), CacheReadTokens: int(s.Read), CacheWriteTokens: int(s.Written)}
}

func wireUsage(u model.Usage) contract.Usage {
	return contract.Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens,
	}
}

// limits are those of the run. A tool that does not heed its end is not waited for longer than the hand-off can wait.
func (o *owner) limits() loop.Limits {
	l := o.Limits
	if most := o.reserve / 2; most > 0 && (l.Grace == 0 || l.Grace > most) {
		l.Grace = min(most, 2*time.Second)
	}
	return l
}
