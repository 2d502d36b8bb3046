package dynamo

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/expr"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// pageRequest is what Query and Scan have in common.
type pageRequest struct {
	TableName, IndexName string
	placeholders
	FilterExpression, ProjectionExpression string
	Select                                 string
	Limit                                  *int
	ExclusiveStartKey                      value.Item
	ConsistentRead                         bool
	ReturnConsumedCapacity                 string
}

type queryRequest struct {
	pageRequest
	KeyConditionExpression string
	ScanIndexForward       *bool
}

type scanRequest struct {
	pageRequest
	Segment, TotalSegments *int
}

type pageAnswer struct {
	Items            *[]value.Item `json:",omitempty"`
	Count            int
	ScannedCount     int
	LastEvaluatedKey value.Item `json:",omitempty"`
	ConsumedCapacity *capacity  `json:",omitempty"`
}

func (f *Front) query(body []byte) (any, error) {
	var r queryRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	p, err := f.page(r.pageRequest)
	if err != nil {
		return nil, err
	}
	x := p.index
	k, err := expr.ParseKeyCondition(r.KeyConditionExpression, p.scope, x.hash, x.sort, x.table.kind)
	if err != nil {
		return nil, err
	}
	if err := p.check(k.Hash); err != nil {
		return nil, err
	}
	forward := r.ScanIndexForward == nil || *r.ScanIndexForward
	return p.read(f, func() []value.Item {
		rows := slices.Clone(x.parts[k.Hash.Str])
		rows = slices.DeleteFunc(rows, func(it value.Item) bool { return !k.Sort(it) })
		if !forward {
			slices.Reverse(rows)
		}
		return p.after(rows, func(it, start value.Item) bool {
			c := x.compare(it, start)
			return (forward && c > 0) || (!forward && c < 0)
		})
	})
}

func (f *Front) scan(body []byte) (any, error) {
	var r scanRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	p, err := f.page(r.pageRequest)
	if err != nil {
		return nil, err
	}
	if err := p.check(value.Value{}); err != nil {
		return nil, err
	}
	segment, total, err := r.segment()
	if err != nil {
		return nil, err
	}
	x := p.index
	return p.read(f, func() []value.Item {
		var rows []value.Item
		for _, hash := range slices.SortedFunc(maps.Keys(x.parts), compareHash) {
			if spread(hash)%uint64(total) == uint64(segment) {
				rows = append(rows, x.parts[hash]...)
			}
		}
		return p.after(rows, func(it, start value.Item) bool {
			return cmp.Or(compareHash(it[x.hash].Str, start[x.hash].Str), x.compare(it, start)) > 0
		})
	})
}

func (r scanRequest) segment() (segment, total int, err error) {
	if r.Segment == nil && r.TotalSegments == nil {
		return 0, 1, nil
	}
	if r.Segment == nil || r.TotalSegments == nil {
		return 0, 0, validation("The Segment parameter and the TotalSegments parameter are required together in the request")
	}
	if *r.TotalSegments < 1 || *r.TotalSegments > 1000000 || *r.Segment < 0 || *r.Segment >= *r.TotalSegments {
		return 0, 0, validation("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d, TotalSegments: %d", *r.Segment, *r.TotalSegments)
	}
	return *r.Segment, *r.TotalSegments, nil
}

// spread scatters partitions over a scan, which has no order that a program could rely on.
func spread(hash string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(hash)) // never fails
	return h.Sum64()
}

func compareHash(a, b string) int {
	return cmp.Or(cmp.Compare(spread(a), spread(b)), cmp.Compare(a, b))
}
