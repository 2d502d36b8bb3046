package lambda

import (
	"os/exec"
	"runtime"
)

// spawner starts every process from one operating system thread that lives as long as the host: on Linux the death
// signal of a child belongs to the thread that started it, not to the process.
type spawner struct {
	requests chan spawn
	ended    chan struct{}
}

type spawn struct {
	cmd *exec.Cmd
	err chan error
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan spawn), ended: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		defer close(s.ended)
		for r := range s.requests {
			r.err <- r.cmd.Start()
		}
	}()
	return s
}

func (s *spawner) start(cmd *exec.Cmd) error {
	r := spawn{cmd, make(chan error, 1)}
	s.requests <- r
	return <-r.err
}

// stop ends the thread. All processes must have ended, and nobody may call start any more.
func (s *spawner) stop() {
	close(s.requests)
	<-s.ended
}
