package dynamo

import (
	"errors"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/expr"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// writeRequest is PutItem, UpdateItem or DeleteItem.
type writeRequest struct {
	actionRequest
	ReturnValues                string
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

type writeAnswer struct {
	Attributes       value.Item `json:",omitempty"`
	ConsumedCapacity *capacity  `json:",omitempty"`
}

func (f *Front) putItem(body []byte) (any, error) {
	return f.write(body, putAction, "NONE", "ALL_OLD")
}

func (f *Front) deleteItem(body []byte) (any, error) {
	return f.write(body, deleteAction, "NONE", "ALL_OLD")
}

func (f *Front) updateItem(body []byte) (any, error) {
	return f.write(body, updateAction, "NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW")
}

func (f *Front) write(body []byte, kind actionKind, returns ...string) (any, error) {
	var r writeRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	if err := errors.Join(oneOf("returnValues", r.ReturnValues, returns...), checkCapacityWord(r.ReturnConsumedCapacity)); err != nil {
		return nil, err
	}
	a, err := f.action(kind, r.actionRequest)
	if err != nil {
		return nil, err
	}
	old, now, err := f.perform(a)
	if err != nil {
		return nil, err
	}
	out := writeAnswer{Attributes: returned(r.ReturnValues, a.update, old, now)}
	c := newCapacity(a.table)
	c.write(old, now, 1)
	out.ConsumedCapacity = c.shown(r.ReturnConsumedCapacity)
	return out, nil
}

// perform runs one action, and returns once the outcome, good or bad, can no longer be lost.
func (f *Front) perform(a *action) (old, now value.Item, err error) {
	f.mu.Lock()
	old = a.table.get(a.key)
	now, err = a.run(old)
	position := f.journal.Position()
	if err == nil {
		position = f.commit(change{writes: []row{{a.table, old, now, a.key}}})
	}
	f.mu.Unlock()
	if werr := f.journal.Wait(position); werr != nil {
		return nil, nil, werr
	}
	var failed conditionFailed
	if errors.As(err, &failed) {
		return nil, nil, failed.answer(a.returnOld)
	}
	return old, now, err
}

func (c conditionFailed) answer(withOld bool) error {
	e := &apiError{Code: "ConditionalCheckFailedException", Message: c.Error()}
	if withOld && c.old != nil {
		e.Fields = map[string]any{"Item": c.old}
	}
	return e
}

// returned picks what ReturnValues asks for.
func returned(which string, u expr.Update, old, now value.Item) value.Item {
	switch which {
	case "ALL_OLD":
		return old
	case "ALL_NEW":
		return now
	case "UPDATED_OLD":
		return expr.Project(old, u.Paths())
	case "UPDATED_NEW":
		return expr.Project(now, u.Paths())
	}
	return nil
}
