package task_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/core/task"
)

func TestResultCache(t *testing.T) {
	completed := task.Task{TaskID: "t", Status: task.Completed, Output: "out"}
	failed := task.Task{TaskID: "t", Status: task.Failed, Error: "boom", FailedBy: []string{"d1"}}
	cancelled := task.Task{TaskID: "t", Status: task.Failed, Error: "cancelled", Cancelled: true}
	for _, tt := range []struct {
		name     string
		put      []task.Task
		delivery string
		want     string // "": not known
	}{
		{"nothing", nil, "d1", ""},
		{"completed, the same delivery", []task.Task{completed}, "d1", "COMPLETED out"},
		{"completed, another delivery", []task.Task{completed}, "d2", "COMPLETED out"},
		{"failed, the delivery that failed", []task.Task{failed}, "d1", "FAILED boom"},
		{"failed, a new delivery", []task.Task{failed}, "d2", ""},
		{"failed, no delivery", []task.Task{failed}, "", ""},
		{"cancelled, any delivery", []task.Task{cancelled}, "d2", "FAILED cancelled"},
		{"the newest counts", []task.Task{failed, completed}, "d2", "COMPLETED out"},
		{"another task's", []task.Task{{TaskID: "other", Status: task.Completed}}, "d1", ""},
		{"running", []task.Task{{TaskID: "t", Status: task.Running}}, "d1", ""},
		{"running again", []task.Task{completed, {TaskID: "t", Status: task.Running}}, "d1", ""},
		{"given back", []task.Task{{TaskID: "t", Status: task.Failed, Retryable: true, FailedBy: []string{"d1"}}}, "d1", ""},
		{"not told yet", []task.Task{{TaskID: "t", Status: task.Completed, CompletionOwed: 1}}, "d1", ""},
		{"very long", []task.Task{{TaskID: "t", Status: task.Completed, Output: strings.Repeat("x", 1<<17)}}, "d1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c task.ResultCache
			for _, put := range tt.put {
				c.Put(put)
			}
			got := ""
			if r, ok := c.Get("t", tt.delivery); ok {
				got = fmt.Sprint(r.Status, " ", r.Output, r.Error)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestResultCacheIsBounded(t *testing.T) {
	c := task.ResultCache{Max: 3}
	for i := range 5 {
		c.Put(task.Task{TaskID: fmt.Sprint(i), Status: task.Completed})
	}
	c.Put(task.Task{TaskID: "2", Status: task.Completed, Output: "again"}) // now the newest
	c.Put(task.Task{TaskID: "5", Status: task.Completed})
	got := ""
	for i := range 6 {
		if _, ok := c.Get(fmt.Sprint(i), "d"); ok {
			got += fmt.Sprint(i)
		}
	}
	if got != "245" {
		t.Errorf("kept are %s, want 245", got)
	}
	var none *task.ResultCache
	none.Put(task.Task{TaskID: "t", Status: task.Completed})
	if _, ok := none.Get("t", "d"); ok {
		t.Error("a nil cache remembers")
	}
}
