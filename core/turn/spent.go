package turn

import (
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
)

// used is what a turn has used as far as its owner knows. It may be more than the state says: a write may have been refused, its outcome
// may not be known, or a step was cut before it was saved.
type used struct {
	turn int64
	session.Spent
}

// total is what the open turn used, whoever owned it then, saved or not.
func (o *owner) total() session.Spent {
	if o.state.Phase == session.Open && o.used.turn == o.state.TurnSeq {
		return o.used.Spent
	}
	return o.state.Spent
}

// spent is total as it is told.
func (o *owner) spent() contract.Usage { return contract.UsageOf(modelUsage(o.total())) }

// spend counts what the open turn used more, and gives what the write under way is to add to the state: all that it does not say yet. The
// write may fail: what it did not save goes with the next.
func (o *owner) spend(more session.Spent) session.Spent {
	o.used = used{o.state.TurnSeq, spentOf(modelUsage(o.total()).Add(modelUsage(more)))}
	return less(o.used.Spent, o.state.Spent)
}

func less(a, b session.Spent) session.Spent {
	return session.Spent{In: a.In - b.In, Out: a.Out - b.Out, Read: a.Read - b.Read, Written: a.Written - b.Written, Cost: a.Cost - b.Cost, Priced: a.Priced}
}

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
