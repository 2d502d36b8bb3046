package dynamo

import (
	"iter"
	"slices"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/expr"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// page is a verified read of many rows.
type page struct {
	request pageRequest
	index   *index
	filter  expr.Condition
	paths   []expr.Path
	scope   *expr.Scope
}

// page verifies all but what only Query or Scan has; check completes it.
func (f *Front) page(r pageRequest) (*page, error) {
	t, err := f.table(r.TableName)
	if err != nil {
		return nil, err
	}
	p := &page{request: r, index: t.rows}
	if r.IndexName != "" {
		i := slices.IndexFunc(t.indexes, func(x *index) bool { return x.name == r.IndexName })
		if i < 0 {
			return nil, validation("The table does not have the specified index: %s", r.IndexName)
		}
		p.index = t.indexes[i]
		if r.ConsistentRead {
			return nil, validation("Consistent reads are not supported on global secondary indexes")
		}
	}
	if r.Limit != nil && *r.Limit < 1 {
		return nil, validation("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1", *r.Limit)
	}
	if err := checkCapacityWord(r.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	if p.scope, err = r.scope(); err != nil {
		return nil, err
	}
	if p.filter, err = expr.ParseCondition("FilterExpression", r.FilterExpression, p.scope); err != nil {
		return nil, err
	}
	if r.ProjectionExpression != "" {
		p.paths, err = expr.ParseProjection(r.ProjectionExpression, p.scope)
	}
	return p, err
}

// check ends the verification, when all expressions have been read. hash is the partition asked for, if any.
func (p *page) check(hash value.Value) error {
	r := p.request
	query := hash.Kind != ""
	if err := p.scope.Check(query || r.FilterExpression+r.ProjectionExpression != ""); err != nil {
		return err
	}
	for _, n := range names(p.index.hash, p.index.sort) {
		if query && p.filter.Uses(n) {
			return validation("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", n)
		}
	}
	if err := p.checkSelect(); err != nil {
		return err
	}
	if r.ExclusiveStartKey == nil {
		return nil
	}
	want := p.index.keyNames()
	for _, n := range want {
		if v := r.ExclusiveStartKey[n]; v.Kind != p.index.table.kind(n) || v.Str == "" || len(r.ExclusiveStartKey) != len(want) {
			return validation("The provided starting key is invalid: The provided key element does not match the schema")
		}
	}
	if query && !value.Equal(r.ExclusiveStartKey[p.index.hash], hash) {
		return validation("The provided starting key is outside query boundaries based on provided conditions")
	}
	return nil
}

func (p *page) checkSelect() error {
	r := p.request
	if err := oneOf("select", r.Select, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"); err != nil {
		return err
	}
	if r.ProjectionExpression != "" && r.Select != "" && r.Select != "SPECIFIC_ATTRIBUTES" {
		return validation("Cannot specify the ProjectionExpression when choosing to get %s", r.Select)
	}
	if r.Select == "SPECIFIC_ATTRIBUTES" && r.ProjectionExpression == "" {
		return validation("Must specify the ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	}
	if r.Select == "ALL_PROJECTED_ATTRIBUTES" && r.IndexName == "" {
		return validation("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	if !p.index.keysOnly {
		return nil
	}
	if r.Select == "ALL_ATTRIBUTES" {
		return validation("One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", p.index.name)
	}
	for _, path := range p.paths {
		if !slices.Contains(p.index.keyNames(), path[0].Name) {
			return validation("One or more parameter values were invalid: Global secondary index %s does not project [%s]", p.index.name, path[0].Name)
		}
	}
	return nil
}

// start is the key after which the page begins, nil for the first one. The row of that key may be gone.
func (p *page) start() value.Item { return p.request.ExclusiveStartKey }

// read evaluates rows up to the limit or 1 MB, whichever comes first, and filters what it evaluated.
func (p *page) read(f *Front, rows iter.Seq[value.Item]) (any, error) {
	var out pageAnswer
	var items []value.Item
	bytes := 0
	err := f.snapshot(func() {
		for it := range rows {
			it = p.index.view(it)
			if p.full(out.ScannedCount, bytes+it.Size()) {
				return
			}
			bytes += it.Size()
			out.ScannedCount++
			out.LastEvaluatedKey = it.Pick(p.index.keyNames()...)
			if p.filter.Holds(it) {
				items = append(items, it)
			}
		}
		if p.request.Limit == nil || out.ScannedCount < *p.request.Limit {
			out.LastEvaluatedKey = nil // the end was reached
		}
	})
	out.Count = len(items)
	if p.request.Select != "COUNT" {
		out.Items = new([]value.Item)
		*out.Items = p.shown(items)
	}
	c := newCapacity(p.index.table)
	c.read(p.index, bytes, readFactor(p.request.ConsistentRead))
	out.ConsumedCapacity = c.shown(p.request.ReturnConsumedCapacity)
	return out, err
}

func (p *page) full(scanned, bytes int) bool {
	return scanned > 0 && (bytes > maxPage || (p.request.Limit != nil && scanned >= *p.request.Limit))
}

func (p *page) shown(items []value.Item) []value.Item {
	out := append([]value.Item{}, items...)
	if p.paths != nil {
		for i, it := range out {
			out[i] = expr.Project(it, p.paths)
		}
	}
	return out
}
