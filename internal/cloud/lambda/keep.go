package lambda

import (
	"encoding/json"
	"fmt"
)

// entry is one change of the queue in its journal.
type entry struct {
	Put  *item  `json:"put,omitempty"`
	Done string `json:"done,omitempty"`
}

// append writes an entry. The lock is held, so that entries have the order of the changes.
func (q *queue) append(e entry) int64 {
	if q.journal == nil {
		return 0
	}
	line, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("lambda: an item of plain fields cannot be written as JSON: %v", err))
	}
	position := q.journal.Append(line)
	if q.journal.Large() {
		if err := q.journal.Compact(q.emit); err != nil {
			q.host.config.Log.Error("the journal of invocations stays as it is", "error", err.Error())
		}
	}
	return position
}

// emit describes the whole queue for a shorter journal.
func (q *queue) emit(write func([]byte) error) error {
	for _, it := range q.items {
		line, err := json.Marshal(entry{Put: &it})
		if err != nil {
			return err
		}
		if err := write(line); err != nil {
			return err
		}
	}
	return nil
}

func (q *queue) replay(line []byte) error {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.Put != nil {
		q.items[e.Put.ID] = *e.Put
	}
	delete(q.items, e.Done)
	return nil
}
