package main

import (
	"bytes"
	"io"
	"testing"
)

func TestLogWaitsForTheEndOfALine(t *testing.T) {
	var out bytes.Buffer
	s := &surroundings{stdout: &out, stderr: &out, log: &logWriter{to: &out}}
	var v voice
	say := v.listener(s).Text
	write := func(line string) {
		if _, err := io.WriteString(s.log, line); err != nil {
			t.Fatal(err)
		}
	}
	write("log 1\n")
	say("It ")
	write("log 2\n")
	say("is")
	v.endLine(s)
	write("log 3\n")
	say("noon.\n")
	write("log 4\n")
	same(t, "output", out.String(), "log 1\nIt is\nlog 2\nlog 3\nnoon.\nlog 4\n")
}
