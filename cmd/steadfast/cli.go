package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
)

const defaultURL = "http://127.0.0.1:8787"

// cli is every command and flag.
type cli struct {
	URL       string    `help:"Base of the HTTP routes." default:"${url}" env:"STEADFAST_URL" placeholder:"URL"`
	WSURL     string    `name:"ws-url" help:"URL of the WebSocket; asked from the stack when not given." env:"STEADFAST_WS_URL" placeholder:"URL"`
	JWT       string    `name:"token" help:"A JWT. Not needed against steadfast dev." env:"STEADFAST_TOKEN" placeholder:"JWT"`
	User      string    `help:"Who to be at steadfast dev, which gives the token." default:"dev" placeholder:"NAME"`
	JSON      bool      `name:"json" help:"Answers as JSON on stdout, errors as {message, code} on stderr."`
	Version   version   `help:"Print the version and end."`
	Dev       dev       `cmd:"" help:"Run the whole stack on this machine, from template.yaml."`
	Token     token     `cmd:"" help:"Print a token that steadfast dev accepts."`
	Shot      oneShot   `cmd:"" name:"run" help:"Ask a model once, without a session: text, or JSON that fits a schema."`
	Chat      chat      `cmd:"" help:"Talk to an agent: one message, or a conversation without one."`
	Task      tasks     `cmd:"" help:"Run, look at and cancel tasks."`
	Sessions  sessions  `cmd:"" help:"List, look at and delete sessions."`
	Send      send      `cmd:"" help:"Say something in a session and leave."`
	Stop      stop      `cmd:"" help:"Stop a session's turn."`
	Events    events    `cmd:"" help:"Follow or print a session's events."`
	Files     files     `cmd:"" help:"The files of a session: list, get."`
	Approvals approvals `cmd:"" help:"Calls that wait for a person: list, approve, deny."`
	Skills    skills    `cmd:"" help:"List, check, show, begin and send skills."`

	Schedules schedules `cmd:"" help:"What the agent does by the clock: list, check, foresee, fire by hand."`
	Reminders reminders `cmd:"" help:"What wakes a session later: list, create, cancel, fire by hand."`
	Eval      eval      `cmd:"" help:"Measure what a skill is worth: run its test cases with and without it."`
	Trigger   trigger   `cmd:"" help:"Measure how well a skill's description makes a model reach for it."`

	Budget budgetCommands `cmd:"" help:"What model calls may cost: show, set and drop budgets."`
	Agency agencyCommands `cmd:"" help:"Persistent agents: watch them, wake them, try their rules, pause them."`

	Trajectory trajectory `cmd:"" help:"Print the turns of a saved stream: calls, reply, usage."`
}

// run runs the command line args and gives the exit status: 0, or 1 after an error, or 130 when interrupted.
func run(args []string, s surroundings) (status int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exit:
			status = int(r)
		default:
			panic(r)
		}
	}()
	s = s.complete()
	s.json = slices.Contains(args, "--json")
	var c cli
	ctx, err := parse(&c, &s, args)
	if err != nil {
		return s.report(err)
	}
	s.json = c.JSON
	return s.report(c.explain(ctx.Run(&c, &s)))
}

// explain adds what does not build at steadfast dev, where a function failed: that may be why.
func (c *cli) explain(err error) error {
	var told *client.Error
	if !errors.As(err, &told) || told.Code != "internal" && told.Status < 500 || c.JWT != "" || !client.Loopback(c.URL) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	found, unknown := client.DevBuilds(ctx, c.URL)
	if why := broken(found, nil); unknown == nil && why != nil {
		return &client.Error{Status: told.Status, Code: told.Code, Message: told.Message + "\n" + why.Error()}
	}
	return err
}

// report prints err for people or programs and gives the exit status.
func (s *surroundings) report(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return 130
	}
	code, message := string(fault.CodeOf(err)), err.Error()
	var answered *client.Error
	if errors.As(err, &answered) {
		code = answered.Code
	}
	if s.json {
		body, _ := json.Marshal(told{code, message, pathsOf(err)}) // strings always encode
		fmt.Fprintln(s.stderr, string(body))
	} else {
		fmt.Fprintln(s.stderr, "steadfast: "+message)
	}
	return 1
}

// told is an error for programs.
type told struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Paths   []string `json:"paths,omitempty"` // where an answer does not fit its schema
}

// pathsOf are the places that an error names.
func pathsOf(err error) []string {
	var at interface{ Paths() []string }
	if errors.As(err, &at) {
		return at.Paths()
	}
	return nil
}

// programName is how to call this program again.
func programName(arg0 string) string {
	if strings.Contains(arg0, string(os.PathSeparator)+"go-build") {
		return "go run ./cmd/steadfast"
	}
	return arg0
}
