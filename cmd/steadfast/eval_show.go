package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/steadfast-agents/steadfast/internal/evals"
)

func (s *surroundings) printBenchmark(b evals.Benchmark) error {
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CONFIGURATION\tPASS RATE\tSECONDS\tTOKENS\tRUNS")
	for _, c := range b.RunSummary.Configurations {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", c.Name, stat(c.PassRate), stat(c.TimeSeconds), stat(c.Tokens), c.TimeSeconds.N)
	}
	d := b.RunSummary.Delta
	fmt.Fprintf(w, "difference\t%s\t%s\t%s\t\n", signed(d.PassRate), signed(d.TimeSeconds), signed(d.Tokens))
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	for _, list := range []struct {
		name string
		all  []string
	}{
		{"passes with and without the skill", b.Patterns.AlwaysPass}, {"fails with and without the skill", b.Patterns.AlwaysFail},
		{"passes only without the skill", b.Patterns.OnlyBase}, {"runs differ", b.Patterns.Uneven}, {"three times the others", b.Patterns.Outliers},
		{"no assertions", b.Ungraded},
	} {
		for _, one := range list.all {
			s.note("%s: %s", list.name, one)
		}
	}
	return nil
}

func stat(v evals.Stat) string {
	if v.N == 0 {
		return "-"
	}
	return evals.Number(v.Mean) + " ± " + evals.Number(v.StdDev)
}

func signed(v *float64) string {
	switch {
	case v == nil:
		return "-"
	case *v < 0:
		return evals.Number(*v)
	}
	return "+" + evals.Number(*v)
}

func (s *surroundings) printComparison(c evals.Comparison) error {
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "WITH THE SKILL\titeration %d\titeration %d\tdifference\n", c.From, c.To)
	for _, m := range c.Metrics {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.Name, stat(m.From), stat(m.To), signed(m.Difference))
	}
	for _, e := range c.Evals {
		fmt.Fprintf(w, "%s\t%s\t%s\t\n", e.Eval, rate(e.From), rate(e.To))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	for _, one := range c.Gained {
		s.print(nil, "holds now: %s", one)
	}
	for _, one := range c.Lost {
		s.print(nil, "no longer holds: %s", one)
	}
	return nil
}

func rate(v *float64) string {
	if v == nil {
		return "-"
	}
	return evals.Number(*v)
}

// progressOf shows how far an iteration is: on a terminal a line that is written over, else one for each run. done ends the line.
func (s *surroundings) progressOf() (tell func(evals.Progress), done func()) {
	terminal, watched := s.stderr.(screen)
	if s.json || !s.live || !watched {
		return func(p evals.Progress) { s.note("%s", progressLine(p)) }, func() {}
	}
	open := false
	tell = func(p evals.Progress) { // names of cases are letters, digits and hyphens: the line commands nothing else
		fmt.Fprint(terminal.to, "\r\x1b[2K")
		if open = p.Err == nil; open {
			fmt.Fprint(terminal.to, s.dim(progressLine(p)))
		} else {
			s.note("%s", progressLine(p))
		}
	}
	return tell, func() {
		if open {
			fmt.Fprintln(terminal.to)
		}
	}
}

func progressLine(p evals.Progress) string {
	failed, kept := "", ""
	if p.Failed > 0 {
		failed = fmt.Sprintf(", %d failed", p.Failed)
	}
	if p.Kept > 0 {
		kept = fmt.Sprintf(", %d are there already", p.Kept)
	}
	switch {
	case p.Last == "":
		return fmt.Sprintf("iteration %d: %d runs%s", p.Iteration, p.Total, kept)
	case p.Err != nil:
		return fmt.Sprintf("%d/%d%s  %s: %v", p.Done+p.Failed, p.Total, failed, p.Last, p.Err)
	}
	return fmt.Sprintf("%d/%d%s  %s, %.1f s", p.Done+p.Failed, p.Total, failed, p.Last, p.Took.Seconds())
}
