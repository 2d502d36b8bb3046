package fake

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// ErrKilled is what every call of a dead worker gets; none of them has an effect. It is also the cause of the end of the
// worker's context.
var ErrKilled = errors.New("the worker is dead")

// worker is one life of a process: once dead it stays dead, also for goroutines it left behind.
type worker struct {
	name   string
	within *worker // the worker that started this one, which cannot outlive it; may be nil
	dead   atomic.Bool
	end    context.CancelCauseFunc
}

type workerKey struct{}

// WithWorker gives the context of a new, living worker: calls made with it (or a context derived from it) are the
// worker's, and it ends when the worker is killed. The same name again is a new life after a restart. A worker made with
// the context of another dies with it, but not the other way round.
func WithWorker(ctx context.Context, name string) context.Context {
	within := workerOf(ctx)
	ctx, end := context.WithCancelCause(ctx)
	return context.WithValue(ctx, workerKey{}, &worker{name: name, within: within, end: end})
}

// WorkerName gives the name of the worker whose context ctx is, or "".
func WorkerName(ctx context.Context) string {
	if w := workerOf(ctx); w != nil {
		return w.name
	}
	return ""
}

// Killed reports whether the worker of ctx is dead.
func Killed(ctx context.Context) bool {
	return workerOf(ctx).isDead()
}

// Kill ends the worker of ctx at once: its context is cancelled and its calls fail from now on.
func Kill(ctx context.Context) {
	if w := workerOf(ctx); w != nil {
		w.kill()
	}
}

func workerOf(ctx context.Context) *worker {
	w, _ := ctx.Value(workerKey{}).(*worker)
	return w
}

func (w *worker) isDead() bool {
	return w != nil && (w.dead.Load() || w.within.isDead())
}

func (w *worker) kill() {
	w.dead.Store(true)
	w.end(ErrKilled)
}

// alive gives the error of a call that cannot be made because its worker is dead or its context has ended.
func alive(ctx context.Context, call string) error {
	if Killed(ctx) {
		return fmt.Errorf("%s: %w", call, ErrKilled)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	return nil
}
