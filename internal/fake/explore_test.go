package fake_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// toy is a flow of the kind that is explored: an order is taken, which owes an event; the event is put on the bus, and the
// debt is struck out. Some versions of it have a bug.
type toy struct {
	table *fake.Dynamo
	bus   *fake.Bus
	bug   string
}

func newToy(bug string) (*toy, *fake.World) {
	w := &fake.World{}
	table := fake.NewDynamo("main")
	table.World = w
	return &toy{table: table, bus: &fake.Bus{World: w}, bug: bug}, w
}

func (f *toy) do(ctx context.Context) error {
	order := row("ORDER#1", "ORDER", "owed", &types.AttributeValueMemberBOOL{Value: true})
	if f.bug == "owed later" {
		delete(order, "owed")
	}
	_, err := f.table.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("main"), Item: order, ConditionExpression: aws.String("attribute_not_exists(pk)")})
	if err != nil {
		if _, exists := fake.AsConditionFailed(err, 0); !exists {
			return err
		}
		if f.bug == "repeat is an error" {
			return nil
		}
		return f.pay(ctx)
	}
	return f.pay(ctx)
}

// pay puts the event on the bus if it is owed, then strikes out the debt.
func (f *toy) pay(ctx context.Context) error {
	key := row("ORDER#1", "ORDER")
	got, err := f.table.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("main"), Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil || got.Item == nil {
		return err
	}
	if got.Item["owed"] == nil && f.bug != "owed later" {
		return nil
	}
	strike := func() error {
		_, err := f.table.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String("main"), Key: key, UpdateExpression: aws.String("REMOVE owed SET told = :t"),
			ExpressionAttributeValues: attr.Item{":t": n("1")}})
		return err
	}
	if f.bug == "strikes out first" {
		if err := strike(); err != nil {
			return err
		}
	}
	_, err = f.bus.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{entry("Order Taken", "{}")}})
	if err != nil || f.bug == "strikes out first" {
		return err
	}
	return strike()
}

// told is the end state: what stands in the table, and whether anybody was told.
func (f *toy) told() string {
	return fmt.Sprintf("%stold: %v", f.table.Dump(), len(f.bus.Events()) > 0)
}

func (f *toy) flow(name string) fake.Flow {
	return fake.Flow{Name: name, New: func() *fake.Run {
		f, w := newToy(f.bug)
		return &fake.Run{World: w, Do: f.do, End: f.told, Recover: func(ctx context.Context) error {
			if len(f.table.Items("ORDER#")) == 0 { // the client saw an error and sends again
				return f.do(ctx)
			}
			if f.bug == "owed later" {
				return nil // nothing says that something is owed
			}
			return f.pay(ctx)
		}}
	}}
}

func entry(detailType, detail string) ebtypes.PutEventsRequestEntry {
	return ebtypes.PutEventsRequestEntry{Source: aws.String("toy"), DetailType: &detailType, Detail: &detail}
}

func TestExploreFindsNothingInACorrectFlow(t *testing.T) {
	r := fake.Search(t, (&toy{}).flow("toy"))
	if want := "explored toy: 12 points, 0 violations"; r.String() != want {
		t.Errorf("Search = %s %v, want %s", r, r.Violations, want)
	}
}

func TestExploreFindsPlantedBugs(t *testing.T) {
	tests := []struct{ bug, want string }{
		{"strikes out first", "kill after at call 3 (dynamo.UpdateItem ORDER#1|ORDER)"},
		{"owed later", "kill after at call 1 (dynamo.PutItem ORDER#1|ORDER)"},
	}
	for _, tt := range tests {
		t.Run(tt.bug, func(t *testing.T) {
			r := fake.Search(t, (&toy{bug: tt.bug}).flow(tt.bug))
			var all []string
			for _, v := range r.Violations {
				all = append(all, v.String())
			}
			if got := strings.Join(all, "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("violations = %s\nwant one that begins %s", got, tt.want)
			}
		})
	}
}

// A recovery that strikes out the debt before it pays is only found out when it is cut off itself.
func TestExplorePairs(t *testing.T) {
	flow := fake.Flow{Name: "pairs", New: func() *fake.Run {
		good, w := newToy("")
		bad := &toy{table: good.table, bus: good.bus, bug: "strikes out first"}
		return &fake.Run{World: w, Do: good.do, Recover: bad.do, End: good.told}
	}}
	if r := fake.Search(t, flow); len(r.Violations) > 0 {
		t.Fatalf("one disturbance is enough: %v", r.Violations)
	}
	flow.Pairs = 100
	r := fake.Search(t, flow)
	if len(r.Violations) == 0 || !strings.Contains(r.Violations[0].What, ", then kill") {
		t.Errorf("%s %v, want a violation by two deaths", r, r.Violations)
	}
}

func TestExploreWithoutRecoverDoesAgain(t *testing.T) {
	flow := func(bug string) fake.Flow {
		return fake.Flow{Name: bug, New: func() *fake.Run {
			f, w := newToy(bug)
			return &fake.Run{World: w, Do: f.do, End: f.told}
		}}
	}
	if r := fake.Search(t, flow("")); len(r.Violations) > 0 {
		t.Errorf("a flow that may be repeated: %v", r.Violations)
	}
	if r := fake.Search(t, flow("repeat is an error")); len(r.Violations) == 0 {
		t.Error("a flow that cannot be repeated was not found out")
	}
}

func TestExploreReports(t *testing.T) {
	tests := []struct {
		name string
		run  func(w *fake.World) *fake.Run
		want string
	}{
		{"undisturbed failure", func(w *fake.World) *fake.Run {
			return &fake.Run{World: w, Do: func(context.Context) error { return errors.New("no luck") }}
		}, "no luck"},
		{"panic", func(w *fake.World) *fake.Run {
			return &fake.Run{World: w, Do: func(context.Context) error { panic("oh") }}
		}, "panic: oh"},
		{"recovery without end", func(w *fake.World) *fake.Run {
			d := fake.NewDynamo("main")
			d.World = w
			touch := func(ctx context.Context) error {
				_, err := d.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("main"), Item: row("a", "b")})
				return err
			}
			return &fake.Run{World: w, Do: touch, Recover: touch}
		}, "not quiet after 50 rounds"},
		{"broken invariant", func(w *fake.World) *fake.Run {
			return &fake.Run{World: w, Do: func(context.Context) error { return nil }, Check: func() error { return errors.New("two answers") }}
		}, "two answers"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := fake.Search(t, fake.Flow{Name: tt.name, New: func() *fake.Run { return tt.run(&fake.World{}) }})
			if len(r.Violations) != 1 || !strings.Contains(r.Violations[0].Problem, tt.want) {
				t.Errorf("violations = %v, want %q", r.Violations, tt.want)
			}
		})
	}
}

func TestDeadWorkersDoNothing(t *testing.T) {
	w := &fake.World{}
	d := fake.NewDynamo("main")
	d.World = w
	w.KillAfter(1)
	ctx := fake.WithWorker(t.Context(), "w")
	write := func(sk string) error {
		_, err := d.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("main"), Item: row("a", sk)})
		return err
	}
	for _, sk := range []string{"1", "2", "3"} {
		if err := write(sk); !errors.Is(err, fake.ErrKilled) {
			t.Errorf("write %s = %v, want ErrKilled", sk, err)
		}
	}
	if context.Cause(ctx) != fake.ErrKilled || !fake.Killed(ctx) {
		t.Errorf("cause = %v, want ErrKilled", context.Cause(ctx))
	}
	if got := keysOf(d.Items("a")); got != "1" {
		t.Errorf("rows = %q, want only the first", got)
	}
	ctx = fake.WithWorker(t.Context(), "w")
	if err := write("4"); err != nil {
		t.Errorf("a new life = %v", err)
	}
}
