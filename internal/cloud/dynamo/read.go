package dynamo

import (
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/expr"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// getRequest is GetItem, or one Get of a transaction.
type getRequest struct {
	TableName                string
	Key                      value.Item
	ConsistentRead           bool
	ProjectionExpression     string
	ExpressionAttributeNames map[string]string
	ReturnConsumedCapacity   string
}

type getAnswer struct {
	Item             value.Item `json:",omitempty"`
	ConsumedCapacity *capacity  `json:",omitempty"`
}

// lookup is a verified read of one row.
type lookup struct {
	table *table
	key   value.Item
	paths []expr.Path
}

func (f *Front) lookup(name string, key value.Item, projection string, names map[string]string) (lookup, error) {
	t, err := f.table(name)
	if err != nil {
		return lookup{}, err
	}
	scope, err := placeholders{ExpressionAttributeNames: names}.scope()
	if err != nil {
		return lookup{}, err
	}
	l := lookup{table: t, key: key}
	if projection != "" {
		if l.paths, err = expr.ParseProjection(projection, scope); err != nil {
			return lookup{}, err
		}
	}
	if err := scope.Check(projection != ""); err != nil {
		return lookup{}, err
	}
	return l, t.checkKey(key)
}

func (l lookup) project(it value.Item) value.Item {
	if l.paths == nil || it == nil {
		return it
	}
	return expr.Project(it, l.paths)
}

// snapshot runs read on rows that no write touches meanwhile, and returns once all of them are safe on disk.
func (f *Front) snapshot(read func()) error {
	f.mu.RLock()
	read()
	position := f.journal.Position()
	f.mu.RUnlock()
	return f.journal.Wait(position)
}

func (f *Front) getItem(body []byte) (any, error) {
	var r getRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	if err := checkCapacityWord(r.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	l, err := f.lookup(r.TableName, r.Key, r.ProjectionExpression, r.ExpressionAttributeNames)
	if err != nil {
		return nil, err
	}
	var it value.Item
	if err := f.snapshot(func() { it = l.table.get(l.key) }); err != nil {
		return nil, err
	}
	c := newCapacity(l.table)
	c.read(nil, it.Size(), readFactor(r.ConsistentRead))
	return getAnswer{l.project(it), c.shown(r.ReturnConsumedCapacity)}, nil
}

type transactGetRequest struct {
	TransactItems          []struct{ Get *getRequest }
	ReturnConsumedCapacity string
}

type transactGetAnswer struct {
	Responses        []getAnswer
	ConsumedCapacity []*capacity `json:",omitempty"`
}

func (f *Front) transactGet(body []byte) (any, error) {
	var r transactGetRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	if err := checkCapacityWord(r.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	if n := len(r.TransactItems); n < 1 || n > maxActions {
		return nil, validation("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length between 1 and %d", maxActions)
	}
	lookups := make([]lookup, len(r.TransactItems))
	for i, g := range r.TransactItems {
		if g.Get == nil {
			return nil, validation("Invalid Request: TransactGetRequest should contain Get requests only")
		}
		l, err := f.lookup(g.Get.TableName, g.Get.Key, g.Get.ProjectionExpression, g.Get.ExpressionAttributeNames)
		if err != nil {
			return nil, err
		}
		lookups[i] = l
	}
	out := transactGetAnswer{Responses: make([]getAnswer, len(lookups))}
	var used capacities
	err := f.snapshot(func() {
		for i, l := range lookups {
			it := l.table.get(l.key)
			out.Responses[i].Item = l.project(it)
			used.of(l.table).read(nil, it.Size(), 2)
		}
	})
	out.ConsumedCapacity = used.shown(r.ReturnConsumedCapacity)
	return out, err
}
