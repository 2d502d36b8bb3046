package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/store"
)

// agencyCommands are the commands about persistent agents. They read the table and use the bus themselves: at steadfast dev that of its
// own, else with the AWS credentials of the environment.
type agencyCommands struct {
	Table string `help:"The stack's table; asked from steadfast dev when not given." env:"TABLE_NAME" placeholder:"NAME"`
	Bus   string `help:"The stack's event bus." env:"EVENT_BUS_NAME" placeholder:"NAME"`

	Story    agencyStory    `cmd:"" help:"Show the life of an agent on this machine: woken, in its own time, promising and keeping."`
	Route    agencyRoute    `cmd:"" help:"Put an event on the bus, as an app would."`
	Tasks    agencyTasks    `cmd:"" help:"List an agent's tasks."`
	Show     agencyShow     `cmd:"" help:"Show an agent: agenda, promises, cooldowns, what it used and what is owed."`
	CheckIn  agencyCheckIn  `cmd:"" help:"Have a type's agents check in now."`
	Replay   agencyReplay   `cmd:"" help:"Say what recorded events would come to; nothing is sent or stored."`
	Template agencyTemplate `cmd:"" help:"Print the rules and schedules that the hosted types need in template.yaml."`
	Pause    agencyPause    `cmd:"" help:"Stop a type's agents; takes 5 s at most."`
	Resume   agencyResume   `cmd:"" help:"Let a type's agents go on."`
}

// agencyStack is a stack that persistent agents live on, with its table and bus.
type agencyStack struct {
	table  store.Table
	bus    bus.Bus
	hosted agency.Hosted
}

// stack opens the stack's table and bus. Nothing is asked of them yet.
func (a agencyCommands) stack(ctx context.Context, c *cli) (agencyStack, error) {
	var at aws.Config
	var err error
	switch {
	case a.Table != "":
		if at, err = config.LoadDefaultConfig(ctx); err != nil {
			return agencyStack{}, fmt.Errorf("read the AWS configuration: %w", err)
		}
	case client.Loopback(c.URL):
		var info client.Surroundings
		if info, err = client.DevInfo(ctx, c.URL); err != nil {
			return agencyStack{}, err
		}
		a.Table, a.Bus, at = info.Table, info.Bus, localAWS(info.AWS, info.Region)
	default:
		return agencyStack{}, &client.Error{Code: "invalid", Message: "which table? Give --table or TABLE_NAME, and AWS credentials"}
	}
	return openAgency(at, a.Table, a.Bus)
}

// localAWS speaks to the AWS services of steadfast dev, which take any credentials.
func localAWS(url, region string) aws.Config {
	return aws.Config{Region: region, BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
}

func openAgency(at aws.Config, table, name string) (agencyStack, error) {
	s := agencyStack{
		table: store.Table{Name: table, DynamoDB: dynamodb.NewFromConfig(at)},
		bus:   bus.Bus{EventBridge: eventbridge.NewFromConfig(at), Name: name},
	}
	var err error
	s.hosted, err = agent.Persistent(agent.Deployment{Table: s.table, Bus: s.bus})
	return s, err
}

// agentOf gives the type and the agent of "type/agent".
func (st agencyStack) agentOf(name string) (a *agency.Agent, agentID string, err error) {
	kind, agentID, ok := strings.Cut(name, "/")
	if !ok || agentID == "" {
		return nil, "", &client.Error{Code: "invalid", Message: fmt.Sprintf("%q is not an agent: type/agent is meant, such as reviewer/ann", name)}
	}
	a, err = st.hosted.Type(kind)
	return a, agentID, err
}

// readFile reads a file, or standard input for "-".
func (s *surroundings) readFile(name string) ([]byte, error) {
	var raw []byte
	var err error
	if name == "-" {
		raw, err = io.ReadAll(s.stdin)
	} else {
		raw, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, &client.Error{Code: "invalid", Message: err.Error()}
	}
	return raw, nil
}

type agencyCheckIn struct {
	Type string `arg:"" help:"The agent type."`
}

// Run implements the command.
func (k agencyCheckIn) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	st, err := c.Agency.stack(ctx, c)
	if err != nil {
		return err
	}
	a, err := st.hosted.Type(k.Type)
	if err != nil {
		return err
	}
	e, err := a.CheckInEvent(time.Now())
	if err != nil {
		return err
	}
	if err := a.EmitCheckIn(ctx); err != nil {
		return err
	}
	var slot struct{ Date, Slot string }
	if err := json.Unmarshal(e.Detail, &slot); err != nil {
		return fmt.Errorf("read the check-in: %w", err)
	}
	return s.answer(map[string]string{"agentType": k.Type, "date": slot.Date, "slot": slot.Slot},
		"check-in %s %s of %s is on the bus; who has answered it already does nothing", slot.Date, slot.Slot, k.Type)
}

type agencyPause struct {
	Type string `arg:"" help:"The agent type."`
}

// Run implements the command.
func (p agencyPause) Run(c *cli, s *surroundings) error { return c.Agency.pause(c, s, p.Type, true) }

type agencyResume struct {
	Type string `arg:"" help:"The agent type."`
}

// Run implements the command.
func (r agencyResume) Run(c *cli, s *surroundings) error { return c.Agency.pause(c, s, r.Type, false) }

func (a agencyCommands) pause(c *cli, s *surroundings, kind string, paused bool) error {
	ctx, done := s.context()
	defer done()
	st, err := a.stack(ctx, c)
	if err != nil {
		return err
	}
	if _, err := st.hosted.Type(kind); err != nil {
		return err
	}
	if err := st.table.PauseAgency(ctx, kind, paused); err != nil {
		return err
	}
	text := kind + " goes on"
	if paused {
		text = kind + " is paused"
	}
	return s.answer(map[string]any{"agentType": kind, "paused": paused}, "%s", text)
}
