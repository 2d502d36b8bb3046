package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/internal/cloud/iam"
)

// dev runs the local cloud until an interrupt.
type dev struct {
	Addr          string            `help:"Where HTTP and WebSocket listen." default:"127.0.0.1:8787" placeholder:"HOST:PORT"`
	AWSAddr       string            `name:"aws-addr" help:"Where the AWS services listen; any free port when not given." placeholder:"HOST:PORT"`
	Data          string            `help:"Keep all data in this folder. Without it, memory." type:"path" placeholder:"DIR"`
	Info          string            `help:"Write the addresses to this file once ready." type:"path" placeholder:"FILE"`
	EnvVars       string            `name:"env-vars" help:"Write the functions' environment to this file once ready, as sam local takes it." type:"path" placeholder:"FILE"`
	Dir           string            `help:"Folder of template.yaml; found from here upwards when not given." type:"path" placeholder:"DIR"`
	Model         string            `help:"Which model answers: offline (the default), openai:<base-url>#<name> for a server of the OpenAI API, bedrock:<id> for Amazon Bedrock with your own credentials. See docs/models.md." placeholder:"SPEC"`
	Parameter     map[string]string `help:"A parameter of the template." mapsep:"none" placeholder:"K=V"`
	FireSchedules bool              `help:"Fire cron schedules, reminders and check-ins too."`
	IAMReport     bool              `name:"iam-report" help:"At the end, list which permissions were used, never used and denied."`
	Verbose       bool              `help:"Show all that the functions print."`
	Demo          bool              `help:"Show a conversation and a task, then end." xor:"show"`
	Tour          bool              `help:"Show a conversation and a task, then stay up." xor:"show"`
}

// host is a running local cloud.
type host struct {
	info  hostInfo
	build func(ctx context.Context, functions ...string) error
	iam   func() iam.Report
	stop  func() error
}

// hostInfo is what programs read from --info and --json.
type hostInfo struct {
	HTTP   string `json:"http"`
	WS     string `json:"ws"`
	Stream string `json:"stream,omitempty"`
	AWS    string `json:"aws"`
	Table  string `json:"table"`
	Bus    string `json:"bus"`
	Issuer string `json:"issuer"`
	Region string `json:"region"`
	Model  string `json:"model,omitempty"`
}

// Run implements the command.
func (d dev) Run(c *cli, s *surroundings) (err error) {
	ctx, done := s.context()
	defer done()
	if d.Dir == "" {
		if d.Dir, err = projectDir(); err != nil {
			return err
		}
	}
	h, err := s.start(ctx, d, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	d.ready(s, h.info)
	if d.Demo || d.Tour {
		if err := d.show(ctx, c.User, s, h); err != nil {
			return d.interrupted(ctx, err)
		}
	}
	if !d.Demo {
		d.invite(s, h.info.HTTP)
		<-ctx.Done()
	}
	if d.IAMReport {
		return s.permissions(h.iam())
	}
	return nil
}

// interrupted makes the end that somebody asked for no error.
func (d dev) interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && !d.Demo {
		return nil
	}
	return err
}

// show builds what the tour needs and runs it.
func (d dev) show(ctx context.Context, user string, s *surroundings, h *host) error {
	s.note("\nbuilding the functions; the first time this takes a minute or two")
	if err := h.build(ctx); err != nil {
		return fmt.Errorf("build the functions: %w", err)
	}
	cl := &client.Client{URL: h.info.HTTP}
	cl.Renew = func(ctx context.Context) (string, error) {
		return client.DevToken(ctx, http.DefaultClient, h.info.HTTP, user)
	}
	var err error
	if cl.Token, err = cl.Renew(ctx); err != nil {
		return err
	}
	return tour{s: s, client: cl, certain: d.Model == "" || d.Model == "offline"}.run(ctx)
}

func (d dev) ready(s *surroundings, info hostInfo) {
	if s.json {
		raw, _ := json.Marshal(info) // strings always encode
		s.print(raw, "")
		return
	}
	kept := "in memory"
	if d.Data != "" {
		kept = d.Data
	}
	s.print(nil, "Steadfast is up.\n  http  %s\n  ws    %s\n  aws   %s\n  data  %s", info.HTTP, info.WS, info.AWS, kept)
}

// invite names what to try next at url.
func (d dev) invite(s *surroundings, url string) {
	if s.json {
		return
	}
	at := ""
	if url != defaultURL {
		at = " --url " + url
	}
	s.print(nil, "\nTry in another terminal:")
	for _, command := range []string{`chat "what time is it?"`, `task run "call get_current_time" --wait`, `sessions list`} {
		s.print(nil, "  %s %s%s", s.program, command, at)
	}
	s.print(nil, "Ctrl-C ends it.")
}

// projectDir finds template.yaml here or above.
func projectDir() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find template.yaml: %w", err)
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "template.yaml")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", &client.Error{Code: "invalid", Message: "no template.yaml in " + here + " or above: run it in the project or give --dir"}
		}
	}
}
