package turn

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
)

// spent is what the open turn's saved steps used, whoever owned it then.
func (o *owner) spent() contract.Usage { return contract.UsageOf(modelUsage(o.state.Spent)) }

func spentOf(u model.Usage) session.Spent {
	return session.Spent{
		In: int64(u.InputTokens), Out: int64(u.OutputTokens), Read: int64(u.CacheReadTokens), Written: int64(u.CacheWriteTokens),
		Cost: u.Cost, Priced: u.Priced,
	}
}

func modelUsage(s session.Spent) model.Usage {
	return model.Usage{
		InputTokens: int(s.In), OutputTokens: int(s.Out), CacheReadTokens: int(s.Read), CacheWriteTokens: int(s.Written),
		Cost: s.Cost, Priced: s.Priced,
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
