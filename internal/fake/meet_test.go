package fake_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// counter is a row that workers count up; without a condition they lose updates.
type counter struct {
	table     *fake.Dynamo
	condition bool
}

func (c *counter) up(ctx context.Context) error {
	for {
		got, err := c.table.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("main"), Key: row("C", "C"), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return err
		}
		value, condition, values := n("0"), "attribute_not_exists(pk)", attr.Item(nil)
		if old := got.Item["n"]; old != nil {
			value, condition, values = old, "n = :old", attr.Item{":old": old}
		}
		was, _ := attr.ParseNumber(attr.Text(value))
		one, _ := attr.ParseNumber("1")
		next, _ := was.Plus(one)
		in := &dynamodb.PutItemInput{TableName: aws.String("main"), Item: row("C", "C", "n", n(next.String()))}
		if c.condition {
			in.ConditionExpression, in.ExpressionAttributeValues = &condition, values
		}
		if _, err = c.table.PutItem(ctx, in); err == nil {
			return nil
		}
		if _, raced := fake.AsConditionFailed(err, 0); !raced {
			return err
		}
	}
}

func counting(condition bool, workers int) fake.Steps {
	return fake.Steps{Name: "counter", New: func() *fake.Meeting {
		w := &fake.World{}
		table := fake.NewDynamo("main")
		table.World = w
		c := &counter{table: table, condition: condition}
		m := &fake.Meeting{World: w, End: func() string { return table.Dump() }}
		for range workers {
			m.Workers = append(m.Workers, c.up)
		}
		return m
	}}
}

func TestStepsFindALostUpdate(t *testing.T) {
	r := fake.SearchSteps(t, counting(false, 2))
	if len(r.Violations) == 0 {
		t.Fatal("two workers that count without a condition lose no update")
	}
	want := []string{"w1: begin", "w1: dynamo.GetItem C|C", "w2: begin", "w2: dynamo.GetItem C|C", "w2: dynamo.PutItem C|C", "w1: dynamo.PutItem C|C"}
	if got := r.Violations[0].Trace; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("first order = %q, want %q", got, want)
	}
}

func TestStepsOfACorrectCounter(t *testing.T) {
	for _, workers := range []int{2, 3} {
		r := fake.SearchSteps(t, counting(true, workers))
		if len(r.Violations) > 0 || !r.Complete || r.Orders < 200 {
			t.Errorf("%s: %v", r, r.Violations)
		}
	}
}

// leasing is about workers that write under a lease they do not renew: a late one must find that the fence has moved.
type leasing struct {
	table      *fake.Dynamo
	clock      *fake.Clock
	checkFence bool
	fences     []string // of those who wrote, in order
}

func (l *leasing) work(ctx context.Context) error {
	fence, err := l.acquire(ctx)
	if err != nil {
		return err
	}
	in := &dynamodb.UpdateItemInput{
		TableName: aws.String("main"), Key: row("L", "L"), UpdateExpression: aws.String("SET winner = :me"),
		ExpressionAttributeValues: attr.Item{":me": s(fake.WorkerName(ctx))},
	}
	if l.checkFence {
		in.ConditionExpression = aws.String("fence = :fence")
		in.ExpressionAttributeValues[":fence"] = fence
	}
	if _, err = l.table.UpdateItem(ctx, in); err == nil {
		l.fences = append(l.fences, attr.Text(fence))
	}
	return err
}

func (l *leasing) acquire(ctx context.Context) (fence attr.Value, err error) {
	now := int(l.clock.Now().Unix())
	out, err := l.table.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("main"), Key: row("L", "L"), UpdateExpression: aws.String("SET expires = :then ADD fence :one"),
		ConditionExpression:       aws.String("attribute_not_exists(expires) OR expires <= :now"),
		ExpressionAttributeValues: attr.Item{":now": attr.Int(now), ":then": attr.Int(now + 30), ":one": n("1")}, ReturnValues: types.ReturnValueAllNew,
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes["fence"], nil
}

func (l *leasing) check() error {
	if !slices.IsSorted(l.fences) {
		return fmt.Errorf("a stale owner wrote: fences %v", l.fences)
	}
	return nil
}

func leases(checkFence bool) fake.Steps {
	return fake.Steps{Name: "lease", Slow: time.Minute, Random: -1, New: func() *fake.Meeting {
		w := &fake.World{}
		l := &leasing{table: fake.NewDynamo("main"), clock: &fake.Clock{Follow: true}, checkFence: checkFence}
		l.table.World = w
		return &fake.Meeting{World: w, Workers: []func(context.Context) error{l.work, l.work}, Check: l.check}
	}}
}

func TestStepsLetTimePass(t *testing.T) {
	if r := fake.SearchSteps(t, leases(false)); len(r.Violations) == 0 {
		t.Errorf("%s, want the write of a stale owner found", r)
	}
	if r := fake.SearchSteps(t, leases(true)); len(r.Violations) > 0 {
		t.Errorf("%s: %v", r, r.Violations[0])
	}
}

// Two workers empty one bus, each delivery a worker of its own that may die.
func TestStepsOfDeliveries(t *testing.T) {
	var traces string
	fake.ExploreSteps(t, fake.Steps{Name: "deliveries", Kill: true, Random: 20, New: func() *fake.Meeting {
		w := &fake.World{}
		bus := &fake.Bus{Duplicate: func(fake.Event) int { return 1 }}
		table := fake.NewDynamo("main")
		table.World = w
		if _, err := bus.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{entry("A", "{}")}}); err != nil {
			t.Error(err)
		}
		drain := func(ctx context.Context) error {
			_, err := bus.Drain(ctx, func(ctx context.Context, _ fake.Event) error {
				traces += fake.WorkerName(ctx) + " "
				_, err := table.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("main"), Item: row("A", "done")})
				return err
			})
			return err
		}
		return &fake.Meeting{World: w, Workers: []func(context.Context) error{drain, drain}, Recover: drain, End: func() string { return table.Dump() }}
	}})
	if !strings.Contains(traces, "delivery-3") {
		t.Error("no delivery that died was made again")
	}
}

func TestStepsWithADeath(t *testing.T) {
	steps := fake.Steps{Name: "toy", Kill: true, Random: 50, New: func() *fake.Meeting {
		f, w := newToy("")
		return &fake.Meeting{World: w, Workers: []func(context.Context) error{f.do, f.do}, Recover: f.do, End: f.told}
	}}
	fake.ExploreSteps(t, steps)
	r := fake.SearchSteps(t, steps)
	steps.Kill = false
	if calm := fake.SearchSteps(t, steps); calm.Orders >= r.Orders {
		t.Errorf("%d orders with deaths, %d without", r.Orders, calm.Orders)
	}
}
