package later

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/steadfast-agents/steadfast/core/bus"
)

// ListAPI is what a group needs of EventBridge Scheduler's client beside what Events does.
type ListAPI interface {
	ListSchedules(context.Context, *scheduler.ListSchedulesInput, ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error)
}

// Group is a group of schedules that belongs to one maker alone.
type Group struct {
	Events
	Lister ListAPI
}

// Names lists the group's schedules. A group that is not there has none. Faults: Unavailable.
func (g Group) Names(ctx context.Context) ([]string, error) {
	group := cmp.Or(g.Group, "default")
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
func (g Group) Become(ctx context.Context, want []bus.Schedule) (put, deleted int, err error) {
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
		if slices.ContainsFunc(want, func(s bus.Schedule) bool { return s.Name == name }) {
			continue
		}
		if err := g.Cancel(ctx, name); err != nil {
			return put, deleted, err
		}
		deleted++
	}
	return put, deleted, nil
}
