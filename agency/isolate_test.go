package agency_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// An agent that cannot be looked up keeps nobody else from the event, of its rule or another; where that befalls many, routing stops and
// is left to the next delivery.
func TestOneAgentsErrorKeepsNoOtherFromTheEvent(t *testing.T) {
	broken := errors.New("the row of cid is damaged")
	var crowd []string
	for n := range 100 {
		crowd = append(crowd, fmt.Sprint("cid", n))
	}
	for _, tt := range []struct {
		name   string
		agents []string
		want   []string // whose tasks are made
		looked int      // most look-ups
	}{
		{"one", []string{"cid", "ann", "bob"}, []string{"ann", "bob", "eve"}, 4},
		{"all", append(crowd, "ann"), nil, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			isolated(t, nil, func(t *testing.T, w *world) {
				looked := 0
				profile := w.definition(nil).Profile
				d := w.definition(func(d *definition) {
					d.Rules = []agency.Rule{rule("Opened", agency.Wake{Agents: tt.agents}), agency.On("Opened", "check_in", wakes("eve"))}
					d.Profile = func(ctx context.Context, id string) (agency.Profile[string], error) {
						if looked++; id[:3] == "cid" {
							return agency.Profile[string]{}, broken
						}
						return profile(ctx, id)
					}
				})
				a, err := agency.Define(d)
				if err != nil {
					t.Fatal(err)
				}
				made, err := a.Route(t.Context(), contract.RawEvent{ID: "evt-1", Source: "app", DetailType: "Opened"})
				if !errors.Is(err, broken) {
					t.Errorf("Route = %v, want the error of cid, for the event has to come again", err)
				}
				var who []string
				for _, m := range made {
					who = append(who, m.AgentID)
				}
				if fmt.Sprint(who) != fmt.Sprint(tt.want) || looked > tt.looked {
					t.Errorf("tasks of %v after %d look-ups, want %v after %d at most", who, looked, tt.want, tt.looked)
				}
			})
		})
	}
}

// A panic of a rule, or of an agent's look-up, is an error of its own; other rules and agents have the event all the same.
func TestPanicsInRoutingAreErrors(t *testing.T) {
	isolated(t, func(d *definition) {
		d.Rules = []agency.Rule{
			agency.On("Opened", "investigate", func(context.Context, agency.Event[struct{}]) (agency.Wake, error) { panic("rule") }),
			rule("Opened", agency.Wake{Agents: []string{"ann", "bob"}, For: func(id string, _ *agency.Each) {
				if id == "ann" {
					panic("agent")
				}
			}}),
		}
	}, func(t *testing.T, w *world) {
		made, err := w.agent.Route(t.Context(), contract.RawEvent{ID: "evt-1", Source: "app", DetailType: "Opened"})
		if got := decided(made); got != "bob requested" {
			t.Errorf("Route = %q, want bob's task", got)
		}
		for _, want := range []string{"to investigate: the rule panicked: rule", "to review: the look-up of ann panicked: agent"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Route = %v, want %q", err, want)
			}
		}
	})
}

// Two events without an id would be one.
func TestAnEventNeedsAnID(t *testing.T) {
	w := newWorld(nil)
	if made, err := w.agent.Route(t.Context(), contract.RawEvent{Source: "app", DetailType: "Deadline Near"}); !fault.Is(err, fault.Invalid) || made != nil {
		t.Errorf("Route = %v, %v, want Invalid", made, err)
	}
}

func wakes(agents ...string) func(context.Context, agency.Event[struct{}]) (agency.Wake, error) {
	return func(context.Context, agency.Event[struct{}]) (agency.Wake, error) {
		return agency.Wake{Agents: agents}, nil
	}
}
