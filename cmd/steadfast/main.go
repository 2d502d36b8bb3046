// Command steadfast is the one command line of Steadfast: it runs the local cloud and talks to a stack, local or
// deployed, through the interfaces that deploy.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(os.Args[1:], surroundings{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		interrupts: interrupts, abort: func() { os.Exit(130) },
		program: programName(os.Args[0]), start: startCloud,
	}))
}
