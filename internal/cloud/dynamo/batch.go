package dynamo

import (
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

type batchWriteRequest struct {
	RequestItems map[string][]struct {
		PutRequest    *struct{ Item value.Item }
		DeleteRequest *struct{ Key value.Item }
	}
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

type batchWriteAnswer struct {
	UnprocessedItems map[string]any
	ConsumedCapacity []*capacity `json:",omitempty"`
}

// batchWrite puts and deletes rows, each for itself; the local table leaves none unprocessed.
func (f *Front) batchWrite(body []byte) (any, error) {
	var r batchWriteRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	if err := checkCapacityWord(r.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	actions, err := f.batchActions(r)
	if err != nil {
		return nil, err
	}
	var used capacities
	for _, a := range actions {
		old, now, err := f.perform(a)
		if err != nil {
			return nil, err
		}
		used.of(a.table).write(old, now, 1)
	}
	return batchWriteAnswer{map[string]any{}, used.shown(r.ReturnConsumedCapacity)}, nil
}

func (f *Front) batchActions(r batchWriteRequest) ([]*action, error) {
	var out []*action
	seen := map[string]bool{}
	for table, requests := range r.RequestItems {
		for _, w := range requests {
			kind, ar := putAction, actionRequest{TableName: table}
			switch {
			case (w.PutRequest == nil) == (w.DeleteRequest == nil):
				return nil, validation("Supplied WriteRequest must contain exactly one of PutRequest and DeleteRequest")
			case w.PutRequest != nil:
				ar.Item = w.PutRequest.Item
			default:
				kind, ar.Key = deleteAction, w.DeleteRequest.Key
			}
			a, err := f.action(kind, ar)
			if err != nil {
				return nil, err
			}
			if _, err := a.run(nil); err != nil { // before anything is written
				return nil, err
			}
			if seen[a.id()] {
				return nil, validation("Provided list of item keys contains duplicates")
			}
			seen[a.id()] = true
			out = append(out, a)
		}
	}
	if len(out) < 1 || len(out) > maxBatchPut {
		return nil, validation("1 validation error detected: Value at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: Member must have length between 1 and %d", maxBatchPut)
	}
	return out, nil
}

type keysRequest struct {
	Keys                     []value.Item
	ConsistentRead           bool              `json:",omitempty"`
	ProjectionExpression     string            `json:",omitempty"`
	ExpressionAttributeNames map[string]string `json:",omitempty"`
}

type batchGetRequest struct {
	RequestItems           map[string]keysRequest
	ReturnConsumedCapacity string
}

type batchGetAnswer struct {
	Responses        map[string][]value.Item
	UnprocessedKeys  map[string]keysRequest
	ConsumedCapacity []*capacity `json:",omitempty"`
}

// batchGet reads up to 100 rows; keys past 16 MB of rows come back as unprocessed.
func (f *Front) batchGet(body []byte) (any, error) {
	var r batchGetRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	if err := checkCapacityWord(r.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	lookups, err := f.batchLookups(r)
	if err != nil {
		return nil, err
	}
	out := batchGetAnswer{Responses: map[string][]value.Item{}, UnprocessedKeys: map[string]keysRequest{}}
	var used capacities
	err = f.snapshot(func() {
		bytes := 0
		for table, ls := range lookups {
			out.Responses[table] = []value.Item{}
			for _, l := range ls {
				it := l.table.get(l.key)
				if bytes += it.Size(); bytes > maxBody {
					out.leave(table, r.RequestItems[table], l.key)
					continue
				}
				used.of(l.table).read(nil, it.Size(), readFactor(r.RequestItems[table].ConsistentRead))
				if it != nil {
					out.Responses[table] = append(out.Responses[table], l.project(it))
				}
			}
		}
	})
	out.ConsumedCapacity = used.shown(r.ReturnConsumedCapacity)
	return out, err
}

func (a *batchGetAnswer) leave(table string, request keysRequest, key value.Item) {
	rest, ok := a.UnprocessedKeys[table]
	if !ok {
		rest = request
		rest.Keys = nil
	}
	rest.Keys = append(rest.Keys, key)
	a.UnprocessedKeys[table] = rest
}

func (f *Front) batchLookups(r batchGetRequest) (map[string][]lookup, error) {
	out := map[string][]lookup{}
	seen := map[string]bool{}
	for table, keys := range r.RequestItems {
		for _, key := range keys.Keys {
			l, err := f.lookup(table, key, keys.ProjectionExpression, keys.ExpressionAttributeNames)
			if err != nil {
				return nil, err
			}
			id := identity(l.table, key)
			if seen[id] {
				return nil, validation("Provided list of item keys contains duplicates")
			}
			seen[id] = true
			out[table] = append(out[table], l)
		}
	}
	if len(seen) < 1 || len(seen) > maxBatchGet {
		return nil, validation("1 validation error detected: Value at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: Member must have length between 1 and %d", maxBatchGet)
	}
	return out, nil
}
