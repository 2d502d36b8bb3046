package fake

import (
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// Units are capacity units: a read unit is 4 KB read consistently (half of one if not, two in a transaction), a write
// unit 1 KB written (two in a transaction), a secondary index counted as it is written.
type Units struct{ Read, Write float64 }

// Minus gives what was used since an earlier reading.
func (u Units) Minus(earlier Units) Units {
	return Units{u.Read - earlier.Read, u.Write - earlier.Write}
}

// Units gives what all calls used so far, failed conditions included.
func (d *Dynamo) Units() Units {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.units
}

// read counts bytes read at a rate of units for 4 KB, at least one unit.
func (d *Dynamo) read(t *table, bytes int, rate float64) {
	u := d.meter[t.name]
	u.Read += rate * math.Max(1, math.Ceil(float64(bytes)/4096))
	d.meter[t.name] = u
}

// rate is what a read of 4 KB costs.
func rate(consistent *bool) float64 {
	if aws.ToBool(consistent) {
		return 1
	}
	return 0.5
}

// wrote counts a write at a rate of units for 1 KB: the larger of the row before and after, and each index that changes.
func (d *Dynamo) wrote(t *table, before, after attr.Item, rate float64) {
	u := d.meter[t.name]
	u.Write += rate * kilobytes(max(attr.ItemSize(before), attr.ItemSize(after)))
	for _, i := range t.others {
		u.Write += i.cost(before, after)
	}
	d.meter[t.name] = u
}

// cost is what a change of a row costs in an index: nothing if the index does not see it, a delete and a put if its key moves.
func (i *index) cost(before, after attr.Item) float64 {
	was, is := i.holds(before), i.holds(after)
	old, now := i.view(before), i.view(after)
	switch {
	case was && is && sameItem(old, now):
		return 0
	case was && is && sameItem(i.keys.of(before), i.keys.of(after)):
		return kilobytes(max(attr.ItemSize(old), attr.ItemSize(now)))
	}
	cost := 0.0
	if was {
		cost += kilobytes(attr.ItemSize(old))
	}
	if is {
		cost += kilobytes(attr.ItemSize(now))
	}
	return cost
}

func sameItem(a, b attr.Item) bool {
	return attr.Equal(&types.AttributeValueMemberM{Value: a}, &types.AttributeValueMemberM{Value: b})
}

func kilobytes(bytes int) float64 { return math.Max(1, math.Ceil(float64(bytes)/1024)) }

// settle adds what the call at hand used to the total.
func (d *Dynamo) settle() {
	for _, u := range d.meter {
		d.units.Read += u.Read
		d.units.Write += u.Write
	}
}

// consumed reports what the call at hand used of one table, if the request asks for it.
func (d *Dynamo) consumed(asked types.ReturnConsumedCapacity, t *table) *types.ConsumedCapacity {
	if asked == "" || asked == types.ReturnConsumedCapacityNone {
		return nil
	}
	return capacity(t.name, d.meter[t.name])
}

// consumedAll is consumed for every table of the call.
func (d *Dynamo) consumedAll(asked types.ReturnConsumedCapacity) []types.ConsumedCapacity {
	if asked == "" || asked == types.ReturnConsumedCapacityNone {
		return nil
	}
	var out []types.ConsumedCapacity
	for name, u := range d.meter {
		out = append(out, *capacity(name, u))
	}
	return out
}

func capacity(name string, u Units) *types.ConsumedCapacity {
	return &types.ConsumedCapacity{
		TableName: aws.String(name), CapacityUnits: aws.Float64(u.Read + u.Write),
		ReadCapacityUnits: aws.Float64(u.Read), WriteCapacityUnits: aws.Float64(u.Write),
	}
}
