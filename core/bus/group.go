package bus

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// ListAPI is what a group needs of EventBridge Scheduler's client beside what Later does.
type ListAPI interface {
	ListSchedules(context.Context, *scheduler.ListSchedulesInput, ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error)
}

// Group is a group of schedules that belongs to one maker alone.
type Group struct {
	Later
	Lister ListAPI
}

// Names lists the group's schedules. A group that is not there has none. Faults: Unavailable.
func (g Group) Names(ctx context.Context) ([]string, error) {
	group := or(g.Group, "default")
	in := &scheduler.ListSchedulesInput{GroupName: &group}
	var names []string
	for {
		out, err := g.Lister.ListSchedules(ctx, in)
		if code(err) == "ResourceNotFoundException" {
			return nil, nil
		}
		if err != nil {
			return nil, g.explain(err, "list of "+group)
		}
		for _, s := range out.Schedules {
			names = append(names, *s.Name)
		}
		if out.NextToken == nil || *out.NextToken == "" {
			return names, nil
		}
		in.NextToken = out.NextToken
	}
}

// Become makes the group hold the given schedules and no others, and says how many it put and took away. A call that is cut off is
// finished by the next. Faults: Invalid (Scheduler refuses one), Unavailable.
func (g Group) Become(ctx context.Context, want []Schedule) (put, deleted int, err error) {
	names, err := g.Names(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, s := range want {
		if err := g.Put(ctx, s); err != nil {
			return put, deleted, err
		}
		put++
	}
	for _, name := range names {
		if slices.ContainsFunc(want, func(s Schedule) bool { return s.Name == name }) {
			continue
		}
		if err := g.Cancel(ctx, name); err != nil {
			return put, deleted, err
		}
		deleted++
	}
	return put, deleted, nil
}

// Source is what the group's events have as their source.
func (g Group) Source() string { return or(g.Bus.Source, contract.Source) }
