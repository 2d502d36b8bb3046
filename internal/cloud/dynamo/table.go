package dynamo

import (
	"slices"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// table holds the rows of one table and of its indexes. The caller locks.
type table struct {
	spec    sam.Table
	rows    *index
	indexes []*index
	count   int
	bytes   int
}

func newTable(spec sam.Table) *table {
	t := &table{spec: spec}
	t.rows = &index{table: t, hash: spec.HashKey, sort: spec.SortKey, parts: map[string][]value.Item{}}
	for _, s := range spec.Indexes {
		t.indexes = append(t.indexes, &index{
			table: t, name: s.Name, hash: s.HashKey, sort: s.SortKey, keysOnly: s.KeysOnly, parts: map[string][]value.Item{},
		})
	}
	return t
}

// kind is the type of a key attribute. The template's tables have string keys.
func (t *table) kind(string) value.Kind { return value.String }

// keyNames are the attributes of the primary key.
func (t *table) keyNames() []string { return names(t.spec.HashKey, t.spec.SortKey) }

func names(hash, sort string) []string {
	if sort == "" {
		return []string{hash}
	}
	return []string{hash, sort}
}

// get is the row with this key, nil if there is none.
func (t *table) get(key value.Item) value.Item {
	part := t.rows.parts[key[t.spec.HashKey].Str]
	i, ok := slices.BinarySearchFunc(part, key, t.rows.compare)
	if !ok {
		return nil
	}
	return part[i]
}

// set replaces the row old (nil: none) by new (nil: none), in the table and in every index.
func (t *table) set(old, new value.Item) {
	for _, x := range append([]*index{t.rows}, t.indexes...) {
		if x.holds(old) {
			x.delete(old)
		}
		if x.holds(new) {
			x.insert(new)
		}
	}
	t.count += present(new) - present(old)
	t.bytes += new.Size() - old.Size()
}

func present(it value.Item) int {
	if it == nil {
		return 0
	}
	return 1
}

// index is the primary order of a table (without a name) or one of its global secondary indexes.
type index struct {
	table      *table
	name       string
	hash, sort string
	keysOnly   bool
	parts      map[string][]value.Item // by hash key, in order
}

// holds reports whether the item has a place here: an index leaves out rows that lack one of its keys.
func (x *index) holds(it value.Item) bool {
	for _, n := range names(x.hash, x.sort) {
		if _, ok := it[n]; !ok {
			return false
		}
	}
	return true
}

// compare orders the items of one partition; rows of an index with equal keys stand in the order of their table keys.
func (x *index) compare(a, b value.Item) int {
	order := []string{x.sort}
	if x.name != "" {
		order = append(order, x.table.spec.HashKey, x.table.spec.SortKey)
	}
	for _, n := range order {
		if c, ok := value.Compare(a[n], b[n]); ok && c != 0 {
			return c
		}
	}
	return 0
}

func (x *index) insert(it value.Item) {
	hash := it[x.hash].Str
	part := x.parts[hash]
	i, _ := slices.BinarySearchFunc(part, it, x.compare)
	x.parts[hash] = slices.Insert(part, i, it)
}

func (x *index) delete(it value.Item) {
	hash := it[x.hash].Str
	part := x.parts[hash]
	i, ok := slices.BinarySearchFunc(part, it, x.compare)
	if !ok {
		return
	}
	if part = slices.Delete(part, i, i+1); len(part) == 0 {
		delete(x.parts, hash)
		return
	}
	x.parts[hash] = part
}

// keyNames are the attributes of a start key: the index's own and the table's.
func (x *index) keyNames() []string {
	out := names(x.hash, x.sort)
	for _, n := range x.table.keyNames() {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// view is the part of a row that the index carries.
func (x *index) view(it value.Item) value.Item {
	if x.keysOnly {
		return it.Pick(x.keyNames()...)
	}
	return it
}
