package stage

import (
	"context"

	"github.com/steadfast-agents/steadfast/internal/fake"
)

// Play is what the outside does to a stage, in order. An act that fails is done again until it succeeds, as clients do.
type Play struct {
	*Stage
	Acts []func(ctx context.Context) error
	Mid  []func(ctx context.Context) error // done one for each call of Midst, and after the acts if that never came
	done int
	mid  int
}

// Do plays on from the act that failed last, and delivers the bus.
func (p *Play) Do(ctx context.Context) error {
	for p.done < len(p.Acts) {
		if err := p.Acts[p.done](ctx); err != nil {
			return err
		}
		p.done++
	}
	return p.Drain(ctx)
}

// Midst is for During: it does the next act of Mid, by a client of its own that may die.
func (p *Play) Midst() {
	ctx := fake.WithWorker(context.Background(), "client")
	defer fake.Kill(ctx)
	_ = p.next(ctx)
}

// next does the next act of Mid.
func (p *Play) next(ctx context.Context) error {
	if p.mid == len(p.Mid) {
		return nil
	}
	err := p.Mid[p.mid](ctx)
	if err == nil && !fake.Killed(ctx) {
		p.mid++
	}
	return err
}

// Recover is a round of what follows a crash.
func (p *Play) Recover(ctx context.Context) error {
	if err := p.Do(ctx); err != nil {
		return err
	}
	for p.mid < len(p.Mid) {
		if err := p.next(ctx); err != nil {
			return err
		}
	}
	return p.Stage.Recover(ctx)
}

// Run is the play as package fake explores it. end may be nil.
func (p *Play) Run(end func() string, check func() error) *fake.Run {
	return &fake.Run{World: p.World, Do: p.Do, Recover: p.Recover, End: end, Check: check}
}
