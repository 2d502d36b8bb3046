package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/standin"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/internal/cloud/iam"
)

// offline answers as the offline model does.
func offline(p *standin.Peer, m contract.ClientMessage) {
	turn := &standin.Turn{ID: "t-" + m.DeliveryID, Fence: 1, Session: m.SessionID}
	if m.Request == firstMessage {
		p.Send(turn.Begin(), turn.Tool("get_current_time", "tu-1"), turn.Text("get_current_time answered: noon", 2))
	} else {
		p.Send(turn.Begin(), turn.Text("The first thing you said was: “"+firstMessage+"”", 5))
	}
	p.Send(turn.End(m.DeliveryID)...)
}

// local gives a run with a local cloud that is a stand-in, and notes what it was asked for.
func local(t *testing.T, s *standin.Stack, r *session) (asked *dev, stopped *bool) {
	asked, stopped = &dev{}, new(bool)
	r.s.start = func(_ context.Context, d dev, _ *surroundings) (*host, error) {
		*asked = d
		return &host{
			info:  hostInfo{HTTP: s.URL, WS: "ws://x/live", AWS: "http://y"},
			build: func(context.Context, ...string) error { return nil },
			iam: func() iam.Report {
				return iam.Report{Functions: []iam.FunctionReport{{
					Function: "connect", Calls: 2, Used: []iam.Grant{{Action: "dynamodb:GetItem", Resource: "table", Uses: 2}},
					Unused: []iam.Grant{{Action: "dynamodb:Scan", Resource: "table"}},
					Denied: []iam.Call{{Action: "sqs:SendMessage", Resource: "queue", Times: 1}},
				}}}
			},
			stop: func() error { *stopped = true; return nil },
		}, nil
	}
	return asked, stopped
}

func completes(id string, _ int) *contract.TaskResult {
	return &contract.TaskResult{TaskID: id, Status: "COMPLETED", Output: "get_current_time answered: noon"}
}

func TestDemo(t *testing.T) {
	s := standin.New(t)
	s.Say, s.Task = offline, completes
	r := at(t)("")
	_, stopped := local(t, s, r)
	r.run(t, 0, "dev", "--demo", "--iam-report", "--dir", t.TempDir())
	for _, want := range []string{s.URL, "ws://x/live", "> " + firstMessage, "get_current_time answered: noon", "> " + secondMessage,
		"“" + firstMessage + "”", "> " + taskRequest, "never used   dynamodb:Scan on table"} {
		if !strings.Contains(r.out.String(), want) {
			t.Errorf("stdout lacks %q:\n%s", want, r.out.String())
		}
	}
	if !*stopped {
		t.Error("the cloud still runs")
	}
}

func TestPermissionsForPrograms(t *testing.T) {
	s := standin.New(t)
	r := at(t)("")
	local(t, s, r)
	interrupts := make(chan os.Signal, 1)
	interrupts <- os.Interrupt
	r.s.interrupts = interrupts
	r.run(t, 0, "dev", "--iam-report", "--json", "--dir", t.TempDir())
	lines := strings.Split(strings.TrimSpace(r.out.String()), "\n")
	same(t, "first line", lines[0], `{"http":"`+s.URL+`","ws":"ws://x/live","aws":"http://y","table":"","bus":"","issuer":"","region":""}`)
	same(t, "last line", lines[len(lines)-1], `{"functions":[{"function":"connect","calls":2,"used":[{"action":"dynamodb:GetItem","resource":"table","times":2}],`+
		`"neverUsed":[{"action":"dynamodb:Scan","resource":"table","times":0}],"denied":[{"action":"sqs:SendMessage","resource":"queue","times":1}]}]}`)
}

func TestDemoFailsWhenTheStackDoesNotKeepItsWord(t *testing.T) {
	forgets := func(p *standin.Peer, m contract.ClientMessage) {
		m.Request = firstMessage
		offline(p, m)
	}
	tests := []struct {
		name string
		say  func(*standin.Peer, contract.ClientMessage)
		task func(string, int) *contract.TaskResult
		want string
	}{
		{"no tool", echoText, completes, "used no tool"},
		{"no memory", forgets, completes, "does not know the first message"},
		{"failed task", offline, func(id string, _ int) *contract.TaskResult {
			return &contract.TaskResult{TaskID: id, Status: "FAILED", Error: "no"}
		}, "ended FAILED: no"},
		{"task without its tool", offline, func(id string, _ int) *contract.TaskResult {
			return &contract.TaskResult{TaskID: id, Status: "COMPLETED", Output: "done"}
		}, "did not report its tool"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := standin.New(t)
			s.Say, s.Task = tt.say, tt.task
			r := at(t)("")
			_, stopped := local(t, s, r)
			r.run(t, 1, "dev", "--demo", "--dir", t.TempDir())
			if !strings.Contains(r.err.String(), tt.want) || !*stopped {
				t.Errorf("stderr = %q, stopped %v, want %q", r.err.String(), *stopped, tt.want)
			}
		})
	}
}

func echoText(p *standin.Peer, m contract.ClientMessage) {
	turn := &standin.Turn{ID: m.DeliveryID, Session: m.SessionID}
	p.Send(turn.Text(m.Request, 1))
	p.Send(turn.End(m.DeliveryID)...)
}

func TestDevStaysUpUntilInterrupted(t *testing.T) {
	s := standin.New(t)
	r := at(t)("")
	asked, stopped := local(t, s, r)
	interrupts := make(chan os.Signal, 1)
	interrupts <- os.Interrupt
	r.s.interrupts = interrupts
	dir := t.TempDir()
	r.run(t, 0, "dev", "--dir", dir, "--addr", "127.0.0.1:9999", "--data", filepath.Join(dir, "data"), "--parameter", "EventBusName=a;b",
		"--parameter", "StageName=live", "--fire-schedules", "--verbose")
	if !*stopped {
		t.Error("the cloud still runs")
	}
	if asked.Dir != dir || asked.Data != filepath.Join(dir, "data") || asked.Parameter["EventBusName"] != "a;b" ||
		asked.Parameter["StageName"] != "live" || !asked.FireSchedules || !asked.Verbose {
		t.Errorf("asked for %+v", asked)
	}
	if want := "  steadfast chat \"what time is it?\" --url " + s.URL + "\n"; !strings.Contains(r.out.String(), want) {
		t.Errorf("stdout lacks %q:\n%s", want, r.out.String())
	}
}

func TestDevSaysWhatKeptItFromStarting(t *testing.T) {
	r := at(t)("")
	r.s.start = func(context.Context, dev, *surroundings) (*host, error) {
		return nil, errors.New("127.0.0.1:8787 is taken")
	}
	r.run(t, 1, "dev", "--dir", t.TempDir())
	same(t, "stderr", r.err.String(), "steadfast: 127.0.0.1:8787 is taken\n")
}

func TestProjectDir(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)
	if dir, err := projectDir(); err == nil {
		t.Errorf("projectDir() without a template = %q", dir)
	}
	if err := os.WriteFile(filepath.Join(root, "template.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dir, err := projectDir()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := real(t, dir), real(t, root); got != want {
		t.Errorf("projectDir() = %q, want %q", got, want)
	}
}

func real(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
