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
	backward := r.ScanIndexForward != nil && !*r.ScanIndexForward
	return p.read(f, func(yield func(value.Item) bool) {
		part := x.parts[k.Hash.Str]
		for i := range part {
			it, c := part[i], 1
			if backward {
				it, c = part[len(part)-1-i], -1
			}
			before := p.start() != nil && x.compare(it, p.start()) != c // not past it, in the direction of travel
			if !before && k.Sort(it) && !yield(it) {
				return
			}
		}
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
	return p.read(f, func(yield func(value.Item) bool) {
		for _, hash := range slices.SortedFunc(maps.Keys(x.parts), compareHash) {
			if spread(hash)%uint64(total) != uint64(segment) {
				continue
			}
			for _, it := range x.parts[hash] {
				before := p.start() != nil && cmp.Or(compareHash(hash, p.start()[x.hash].Str), x.compare(it, p.start())) <= 0
				if !before && !yield(it) {
					return
				}
			}
		}
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
