package evals

import (
	"errors"
	"io/fs"
	"slices"
)

// attemptsFile keeps every run as it ends, so that an interrupted measurement goes on.
type attemptsFile struct {
	Attempts []Attempt `json:"attempts"`
}

// asked is one run of one query.
type asked struct {
	query string
	run   int
}

// attempts are the runs of a set: in which order they are, and those that are there. The others are of other sets, in the same file.
type attempts struct {
	order  []asked
	done   map[asked]Attempt
	others []Attempt
}

// kept reads what is there of the runs of a set; those that failed are not, so they are made again.
func kept(path string, queries []Query, runs int) (attempts, error) {
	a := attempts{done: map[asked]Attempt{}}
	var file attemptsFile
	if err := readJSON(path, &file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return a, err
	}
	for _, q := range queries {
		for run := 1; run <= runs; run++ {
			a.order = append(a.order, asked{q.Query, run})
		}
	}
	for _, one := range file.Attempts {
		switch p := (asked{one.Query, one.Run}); {
		case !slices.Contains(a.order, p):
			a.others = append(a.others, one)
		case one.Error == "":
			a.done[p] = one
		}
	}
	return a, nil
}

// missing are the runs that are to be made.
func (a attempts) missing() (todo []asked) {
	for _, p := range a.order {
		if _, there := a.done[p]; !there {
			todo = append(todo, p)
		}
	}
	return todo
}

// list gives the runs in order.
func (a attempts) list() (all []Attempt) {
	for _, p := range a.order {
		if one, there := a.done[p]; there {
			all = append(all, one)
		}
	}
	return all
}
