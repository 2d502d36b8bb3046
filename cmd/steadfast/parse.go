package main

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// exit is a panic of kong's --help, which ends the program when it has printed.
type exit int

// parse reads args into c. What is wrong with them is one error that names the help to read.
func parse(c *cli, s *surroundings, args []string) (*kong.Context, error) {
	parser, err := kong.New(c, kong.Name("steadfast"), kong.UsageOnError(),
		kong.Description("Agents that keep their word.\n\nThe exit status is 0 when all went well, 1 after an error and 130 after an interrupt."),
		kong.Vars{"url": defaultURL}, kong.ValueFormatter(withDefault),
		kong.Writers(s.stdout, s.stderr), kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		return nil, err
	}
	ctx, err := parser.Parse(args)
	if err == nil {
		err = checkArguments(ctx)
	}
	if err != nil {
		return nil, &client.Error{Code: string(fault.Invalid), Message: fmt.Sprintf("%v (see %s --help)", err, asked(ctx, err))}
	}
	c.URL, err = base(c.URL)
	return ctx, err
}

// withDefault is the help of a flag with its default, which kong shows only where it stands for no placeholder.
func withDefault(v *kong.Value) string {
	help := kong.DefaultHelpValueFormatter(v)
	if v.Default == "" || v.Tag == nil || v.Tag.PlaceHolder == "" || strings.Contains(help, "default") {
		return help
	}
	return strings.TrimSuffix(help, ".") + ", default " + v.Default + "."
}

// asked is the command that args got to.
func asked(ctx *kong.Context, err error) string {
	words := []string{"steadfast"}
	var wrong *kong.ParseError
	if errors.As(err, &wrong) {
		ctx = wrong.Context
	}
	if ctx != nil {
		for _, step := range ctx.Path {
			if step.Command != nil {
				words = append(words, step.Command.Name)
			}
		}
	}
	return strings.Join(words, " ")
}

// ids are the arguments and flags that name something, which an empty text never does. It comes from a variable of the shell that is not
// set, and would mean another session, or all.
var ids = []string{"session", "id", "call", "agent", "name", "type", "user"}

func checkArguments(ctx *kong.Context) error {
	for _, step := range ctx.Path {
		switch p, f := step.Positional, step.Flag; {
		case p != nil && p.Required && nameless(p):
			return fmt.Errorf("<%s> is empty", p.Name)
		case f != nil && nameless(f.Value):
			return fmt.Errorf("--%s is empty", f.Name)
		}
	}
	return nil
}

// nameless reports whether v should name something and does not.
func nameless(v *kong.Value) bool {
	return slices.Contains(ids, v.Name) && v.Target.Kind() == reflect.String && v.Target.String() == ""
}

// base is where the routes of a stack begin, without a slash at the end. Nothing is the default.
func base(given string) (string, error) {
	if given == "" {
		return defaultURL, nil
	}
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", &client.Error{Code: string(fault.Invalid), Message: fmt.Sprintf("--url: %q is no URL such as %s", given, defaultURL)}
	}
	return strings.TrimRight(given, "/"), nil
}

// version is a flag that prints what this program was built from.
type version bool

// BeforeReset ends the program with its version.
func (version) BeforeReset(app *kong.Kong) error {
	built := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		built = info.Main.Version + " " + info.GoVersion
	}
	fmt.Fprintln(app.Stdout, "steadfast "+built)
	app.Exit(0)
	return nil
}
