package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"text/tabwriter"
	"time"
	_ "time/tzdata" // schedules may be in any zone

	program "github.com/steadfast-agents/steadfast/agent/schedules"
	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/schedule"
)

// schedules are the commands about what the agent does by the clock. All but run read files only, and need no stack.
type schedules struct {
	Dir string `help:"Folder of the Markdown files." default:"agent/schedules" placeholder:"PATH"`

	List  schedulesList  `cmd:"" help:"List the schedules and when each fires next."`
	Check schedulesCheck `cmd:"" help:"Check all schedules and the handlers of reminders; status 1 if one is wrong."`
	Next  schedulesNext  `cmd:"" help:"Show the next times of a schedule, or of a cron expression."`
	Run   schedulesRun   `cmd:"" help:"Fire a schedule once at steadfast dev, as production would, and watch it to its end."`
}

// load reads the files of the folder, or without it those that were built in, and the handlers that were.
func (c schedules) load() (schedule.Set, error) {
	files := fs.FS(program.Files)
	if info, err := os.Stat(c.Dir); err == nil && info.IsDir() {
		files = os.DirFS(c.Dir)
	} else if c.Dir != "agent/schedules" {
		return schedule.Set{}, &client.Error{Code: string(fault.NotFound), Message: "there is no folder " + c.Dir}
	}
	return schedule.NewSet(files, program.Handlers()...)
}

// scheduleView is a schedule for programs.
type scheduleView struct {
	ScheduleID  string   `json:"scheduleId"`
	Kind        string   `json:"kind"` // file or handler
	Cron        string   `json:"cron"`
	TimeZone    string   `json:"timezone"`
	Description string   `json:"description,omitempty"`
	Next        string   `json:"next,omitempty"`
	Expressions []string `json:"expressions"` // as EventBridge Scheduler has them
}

func viewSchedule(d schedule.Definition, now time.Time) scheduleView {
	v := scheduleView{ScheduleID: d.ID, Kind: "file", Cron: d.Expression, TimeZone: d.TimeZone, Description: d.Description, Expressions: d.Cron.Expressions()}
	if d.Handler != nil {
		v.Kind = "handler"
	}
	if v.TimeZone == "" {
		v.TimeZone = "UTC"
	}
	if next := d.Next(now); !next.IsZero() {
		v.Next = next.Format(time.RFC3339)
	}
	return v
}

type schedulesList struct{}

// Run implements the command.
func (l schedulesList) Run(c *cli, s *surroundings) error {
	set, err := c.Schedules.load()
	if err != nil {
		return err
	}
	views := []scheduleView{}
	for _, d := range set.All() {
		views = append(views, viewSchedule(d, time.Now()))
	}
	switch {
	case s.json:
		return s.answer(map[string]any{"schedules": views}, "")
	case len(views) == 0:
		s.note("no schedules")
		return nil
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SCHEDULE\tFROM\tCRON\tZONE\tNEXT")
	for _, v := range views {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", v.ScheduleID, v.Kind, v.Cron, v.TimeZone, v.Next)
	}
	return w.Flush()
}

type schedulesCheck struct{}

// Run implements the command.
func (k schedulesCheck) Run(c *cli, s *surroundings) error {
	set, err := c.Schedules.load()
	_, handlers := program.Reminders()
	if err := errors.Join(err, handlers); err != nil {
		return err
	}
	n := len(set.All())
	return s.answer(map[string]any{"valid": true, "schedules": n}, "schedules read: %d", n)
}

type schedulesNext struct {
	What     string `arg:"" help:"A schedule's id, or five fields in quotes."`
	Count    int    `short:"n" help:"How many times." default:"5" placeholder:"N"`
	TimeZone string `name:"timezone" help:"IANA zone of the five fields; default UTC." placeholder:"ZONE"`
}

// Run implements the command.
func (n schedulesNext) Run(c *cli, s *surroundings) error {
	if n.Count < 1 || n.Count > 1000 {
		return &client.Error{Code: string(fault.Invalid), Message: "-n must be from 1 to 1000"}
	}
	cron, zone, err := n.read(c)
	if err != nil {
		return err
	}
	at, err := schedule.Zone(zone)
	if err != nil {
		return err
	}
	var times []string
	for _, t := range cron.Upcoming(time.Now(), at, schedule.SkipGap, n.Count) {
		times = append(times, t.Format(time.RFC3339))
		if !s.json {
			s.print(nil, "%s", fmt.Sprintf("%s  %s", t.Format(time.RFC3339), t.In(at).Format("Mon 2 Jan 2006 15:04 MST")))
		}
	}
	if s.json {
		return s.answer(map[string]any{"times": times, "expressions": cron.Expressions()}, "")
	}
	return nil
}

// read finds the schedule, or reads the expression.
func (n schedulesNext) read(c *cli) (schedule.Cron, string, error) {
	set, err := c.Schedules.load()
	if d, ok := set.Get(n.What); ok {
		if n.TimeZone != "" {
			return schedule.Cron{}, "", &client.Error{Code: string(fault.Invalid), Message: "--timezone goes with five fields: a schedule has its own"}
		}
		return d.Cron, d.TimeZone, nil
	}
	cron, bad := schedule.ParseCron(n.What)
	switch {
	case bad == nil:
		return cron, n.TimeZone, nil
	case err != nil:
		return schedule.Cron{}, "", errors.Join(bad, err)
	case !slices.ContainsFunc([]rune(n.What), func(r rune) bool { return r == ' ' || r == '@' }):
		return schedule.Cron{}, "", &client.Error{Code: string(fault.NotFound), Message: fmt.Sprintf("there is no schedule %q; steadfast schedules list shows what there is", n.What)}
	}
	return schedule.Cron{}, "", bad
}

// scheduleLine is what an event says, for people.
func scheduleLine(kind string, data json.RawMessage) string {
	var d struct{ Text, Result, Error, Name, Message string }
	_ = json.Unmarshal(data, &d) // an event without these says just what it is
	for _, text := range []string{d.Text, d.Result, d.Error, d.Message, d.Name} {
		if text != "" {
			return kind + "  " + oneLine(text)
		}
	}
	return kind
}
