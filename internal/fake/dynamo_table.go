package fake

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// maxChanges is how many changes a table remembers for late readers.
const maxChanges = 1000

// keyAttribute is one attribute of a key; name is empty if the key has no such part.
type keyAttribute struct{ name, kind string }

// keys are the attributes by which rows are found and ordered.
type keys struct{ hash, sort keyAttribute }

func (k keys) names() []string {
	if k.sort.name == "" {
		return []string{k.hash.name}
	}
	return []string{k.hash.name, k.sort.name}
}

// of picks the key from a row.
func (k keys) of(item attr.Item) attr.Item {
	key := attr.Item{}
	for _, name := range k.names() {
		if v := item[name]; v != nil {
			key[name] = v
		}
	}
	return key
}

// index is a table's own (name "") or a global secondary one. Rows are never changed in place, only replaced.
type index struct {
	name    string
	keys    keys
	project func(attr.Item) attr.Item
	only    []string // attributes an index holds; nil: all
	parts   map[string][]attr.Item
}

type table struct {
	name    string
	main    *index
	others  map[string]*index
	changes []change
}

// change is one write: the row before and after it, nil if there was none.
type change struct{ before, after attr.Item }

func usualTable(name string) *table {
	text := func(hash, sort string) keys { return keys{keyAttribute{hash, "S"}, keyAttribute{sort, "S"}} }
	t := &table{name: name, main: &index{keys: text("pk", "sk"), parts: map[string][]attr.Item{}}}
	t.others = map[string]*index{"due": t.secondary("due", text("duePk", "dueSk"), types.ProjectionTypeKeysOnly, nil)}
	return t
}

// secondary makes a global secondary index that holds what the projection says.
func (t *table) secondary(name string, k keys, projection types.ProjectionType, extra []string) *index {
	i := &index{name: name, keys: k, parts: map[string][]attr.Item{}}
	if projection == types.ProjectionTypeAll {
		return i
	}
	i.only = append(append(k.names(), t.main.keys.names()...), extra...)
	i.project = func(item attr.Item) attr.Item { return keep(item, i.only) }
	return i
}

func keep(item attr.Item, names []string) attr.Item {
	out := attr.Item{}
	for _, name := range names {
		if v := item[name]; v != nil {
			out[name] = v
		}
	}
	return out
}

// view gives what the index holds of a row.
func (i *index) view(item attr.Item) attr.Item {
	if i.project == nil || item == nil {
		return item
	}
	return i.project(item)
}

// holds reports whether the row belongs in the index: it has all key attributes.
func (i *index) holds(item attr.Item) bool {
	return item != nil && len(i.keys.of(item)) == len(i.keys.names())
}

// order compares rows of one partition: by the index's sort key, then by the table's key.
func (t *table) order(i *index, a, b attr.Item) int {
	names := []string{i.keys.sort.name}
	if i != t.main {
		names = append(names, t.main.keys.names()...)
	}
	for _, name := range names {
		if c, _ := attr.Compare(a[name], b[name]); c != 0 {
			return c
		}
	}
	return 0
}

func (t *table) find(i *index, row attr.Item) (part string, at int, found bool) {
	part = attr.Text(row[i.keys.hash.name])
	at, found = slices.BinarySearchFunc(i.parts[part], row, func(a, b attr.Item) int { return t.order(i, a, b) })
	return part, at, found
}

// row gives the row with the key, nil if there is none.
func (t *table) row(key attr.Item) attr.Item {
	part, at, found := t.find(t.main, key)
	if !found {
		return nil
	}
	return t.main.parts[part][at]
}

// write puts after in the place of before; either may be nil.
func (t *table) write(before, after attr.Item) {
	for _, i := range append([]*index{t.main}, t.secondaries()...) {
		if i.holds(before) {
			part, at, _ := t.find(i, before)
			i.parts[part] = slices.Delete(i.parts[part], at, at+1)
		}
		if i.holds(after) {
			part, at, _ := t.find(i, after)
			i.parts[part] = slices.Insert(i.parts[part], at, after)
		}
	}
	if len(t.changes) == maxChanges {
		t.changes = slices.Delete(t.changes, 0, maxChanges/2)
	}
	t.changes = append(t.changes, change{before, after})
}

func (t *table) secondaries() []*index {
	var out []*index
	for _, i := range t.others {
		out = append(out, i)
	}
	return out
}

// late undoes the latest lag changes in rows, which belong to one partition of an index.
func (t *table) late(i *index, hash attr.Value, rows []attr.Item, lag int) []attr.Item {
	rows = slices.Clone(rows)
	same := func(row attr.Item) bool { return i.holds(row) && attr.Equal(row[i.keys.hash.name], hash) }
	for _, c := range slices.Backward(t.changes[max(0, len(t.changes)-lag):]) {
		if same(c.after) {
			rows = slices.DeleteFunc(rows, func(r attr.Item) bool { return t.order(i, r, c.after) == 0 })
		}
		if same(c.before) {
			at, _ := slices.BinarySearchFunc(rows, c.before, func(a, b attr.Item) int { return t.order(i, a, b) })
			rows = slices.Insert(rows, at, c.before)
		}
	}
	return rows
}

// rows gives the rows of one partition of an index as they were lag changes ago.
func (t *table) rows(i *index, hash attr.Value, lag int) []attr.Item {
	rows := i.parts[attr.Text(hash)]
	if lag == 0 {
		return rows
	}
	return t.late(i, hash, rows, lag)
}

// newTable makes a table from a request.
func newTable(in *dynamodb.CreateTableInput) (*table, error) {
	name := aws.ToString(in.TableName)
	if len(name) < 3 || len(name) > 255 {
		return nil, attr.Refuse("TableName must be at least 3 characters long and at most 255 characters long")
	}
	kinds := map[string]string{}
	for _, a := range in.AttributeDefinitions {
		kinds[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	used := map[string]bool{}
	main, err := keySchema(in.KeySchema, kinds, used)
	if err != nil {
		return nil, err
	}
	t := &table{name: name, main: &index{keys: main, parts: map[string][]attr.Item{}}, others: map[string]*index{}}
	for _, g := range in.GlobalSecondaryIndexes {
		k, err := keySchema(g.KeySchema, kinds, used)
		if err != nil {
			return nil, err
		}
		if g.Projection == nil {
			return nil, attr.Refuse("One or more parameter values were invalid: Unknown ProjectionType: null")
		}
		index := aws.ToString(g.IndexName)
		t.others[index] = t.secondary(index, k, g.Projection.ProjectionType, g.Projection.NonKeyAttributes)
	}
	if len(used) != len(kinds) {
		return nil, attr.Refuse("One or more parameter values were invalid: Number of attributes in KeySchema " +
			"does not exactly match number of attributes defined in AttributeDefinitions")
	}
	return t, nil
}

func keySchema(schema []types.KeySchemaElement, kinds map[string]string, used map[string]bool) (keys, error) {
	var k keys
	for n, e := range schema {
		a := keyAttribute{aws.ToString(e.AttributeName), kinds[aws.ToString(e.AttributeName)]}
		used[a.name] = true
		switch {
		case a.kind == "":
			return keys{}, attr.Refuse("One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. Keys: [%s]", a.name)
		case n == 0 && e.KeyType == types.KeyTypeHash:
			k.hash = a
		case n == 1 && e.KeyType == types.KeyTypeRange:
			k.sort = a
		default:
			return keys{}, attr.Refuse("Invalid KeySchema: The first KeySchemaElement is not a HASH key type, or the second is not a RANGE key type")
		}
	}
	if k.hash.name == "" {
		return keys{}, attr.Refuse("Invalid KeySchema: Some index key attribute have no definition")
	}
	return k, nil
}

func (t *table) describe() *types.TableDescription {
	schema := []types.KeySchemaElement{{AttributeName: aws.String(t.main.keys.hash.name), KeyType: types.KeyTypeHash}}
	if t.main.keys.sort.name != "" {
		schema = append(schema, types.KeySchemaElement{AttributeName: aws.String(t.main.keys.sort.name), KeyType: types.KeyTypeRange})
	}
	return &types.TableDescription{TableName: aws.String(t.name), TableStatus: types.TableStatusActive, KeySchema: schema}
}
