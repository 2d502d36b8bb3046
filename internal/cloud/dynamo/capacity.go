package dynamo

import "github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"

// capacity counts the units of an operation on one table, as DynamoDB bills them on demand.
type capacity struct {
	TableName     string
	CapacityUnits float64

	Table                  *units            `json:",omitempty"`
	GlobalSecondaryIndexes map[string]*units `json:",omitempty"`

	of      *table
	ofTable float64
	ofIndex map[string]float64
}

type units struct{ CapacityUnits float64 }

func checkCapacityWord(word string) error {
	return oneOf("returnConsumedCapacity", word, "INDEXES", "TOTAL", "NONE")
}

func newCapacity(t *table) *capacity {
	return &capacity{TableName: t.spec.Name, of: t, ofIndex: map[string]float64{}}
}

// write counts a row that went from old to now: a unit for each 1 KB of the larger one, and of every index entry that
// went, came or changed. factor is 2 inside a transaction.
func (c *capacity) write(old, now value.Item, factor float64) {
	c.ofTable += factor * blocks(max(old.Size(), now.Size()), 1<<10)
	for _, x := range c.of.indexes {
		was, is := x.holds(old), x.holds(now)
		switch {
		case was && is && sameKeys(x, old, now) && !value.EqualItems(x.view(old), x.view(now)):
			c.ofIndex[x.name] += factor * blocks(max(x.view(old).Size(), x.view(now).Size()), 1<<10)
		case was && is && sameKeys(x, old, now):
		default:
			if was {
				c.ofIndex[x.name] += factor * blocks(x.view(old).Size(), 1<<10)
			}
			if is {
				c.ofIndex[x.name] += factor * blocks(x.view(now).Size(), 1<<10)
			}
		}
	}
}

func sameKeys(x *index, a, b value.Item) bool {
	keys := names(x.hash, x.sort)
	return value.EqualItems(a.Pick(keys...), b.Pick(keys...))
}

// read counts bytes read at once: half a unit for each 4 KB, a whole one when consistent, two inside a transaction.
func (c *capacity) read(x *index, bytes int, factor float64) {
	n := factor * blocks(bytes, 4<<10)
	if x == nil || x.name == "" {
		c.ofTable += n
		return
	}
	c.ofIndex[x.name] += n
}

func readFactor(consistent bool) float64 {
	if consistent {
		return 1
	}
	return 0.5
}

func blocks(bytes, block int) float64 { return float64(max(1, (bytes+block-1)/block)) }

// shown is the form that ReturnConsumedCapacity asks for; nil for NONE.
func (c *capacity) shown(word string) *capacity {
	if word != "TOTAL" && word != "INDEXES" {
		return nil
	}
	c.CapacityUnits = c.ofTable
	for _, n := range c.ofIndex {
		c.CapacityUnits += n
	}
	if word == "INDEXES" {
		c.Table = &units{c.ofTable}
		for name, n := range c.ofIndex {
			if c.GlobalSecondaryIndexes == nil {
				c.GlobalSecondaryIndexes = map[string]*units{}
			}
			c.GlobalSecondaryIndexes[name] = &units{n}
		}
	}
	return c
}

// capacities gathers the units of several tables, in the order in which they were first touched.
type capacities struct {
	list []*capacity
}

func (cs *capacities) of(t *table) *capacity {
	for _, c := range cs.list {
		if c.of == t {
			return c
		}
	}
	c := newCapacity(t)
	cs.list = append(cs.list, c)
	return c
}

func (cs *capacities) shown(word string) []*capacity {
	var out []*capacity
	for _, c := range cs.list {
		if s := c.shown(word); s != nil {
			out = append(out, s)
		}
	}
	return out
}
