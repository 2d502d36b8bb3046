package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// Watch is the table with an eye on it: after every write, whatever its caller was told, it looks whether the rows keep the
// promises that hold at any moment. What they break is kept for Check.
type Watch struct {
	*fake.Dynamo
	Now func() time.Time
	Off bool // look no more: for worlds so large that looking takes too long

	// Before is called before each read and write, with its name, when what goes before it has been read: others may be faster here.
	// A worker's two goroutines may call it at the same time. nil: nobody is.
	Before func(call string)

	mu       sync.Mutex
	broken   []string
	sessions map[string]session.State // as last seen
	tasks    map[string]task.Task
	flagged  map[string]bool  // session and turn: a stop was accepted while it was open
	hurried  map[string]bool  // session and turn: a message that preempts was admitted while it was open
	numbers  map[string]int64 // session and delivery: the number of its admission
	stopped  map[string]int64 // session: the highest admission that a stop covered
	doomed   map[string]bool  // session and number: a stop covered it while it waited
}

// PutItem writes and looks.
func (w *Watch) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	w.before("PutItem")
	defer w.look()
	return w.Dynamo.PutItem(ctx, in, o...)
}

// UpdateItem writes and looks.
func (w *Watch) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	w.before("UpdateItem")
	defer w.look()
	return w.Dynamo.UpdateItem(ctx, in, o...)
}

// DeleteItem writes and looks.
func (w *Watch) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	w.before("DeleteItem")
	defer w.look()
	return w.Dynamo.DeleteItem(ctx, in, o...)
}

// TransactWriteItems writes and looks.
func (w *Watch) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	w.before("TransactWriteItems")
	defer w.look()
	return w.Dynamo.TransactWriteItems(ctx, in, o...)
}

// GetItem reads.
func (w *Watch) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	w.before("GetItem")
	return w.Dynamo.GetItem(ctx, in, o...)
}

// Query reads.
func (w *Watch) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	w.before("Query")
	return w.Dynamo.Query(ctx, in, o...)
}

func (w *Watch) before(call string) {
	if w.Before != nil {
		w.Before(call)
	}
}

// Broken gives the first broken promise, nil if there is none.
func (w *Watch) Broken() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.broken) == 0 {
		return nil
	}
	return fmt.Errorf("%s (and %d more)", w.broken[0], len(w.broken)-1)
}

// ended checks the word with which a turn ended.
func (w *Watch) ended(sessionID, turnID, taskID, word string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	flagged, hurried := w.flagged[sessionID+" "+turnID], w.hurried[sessionID+" "+turnID]
	taskOver := taskID != "" && w.tasks[taskID].Cancelled
	switch {
	case word == "completed" && flagged:
		return fmt.Errorf("%s is completed although it was stopped", turnID)
	case word == task.ReasonCancelled && !flagged && !taskOver:
		return fmt.Errorf("%s is cancelled and nobody stopped it", turnID)
	case word == task.ReasonInterrupted && !hurried:
		return fmt.Errorf("%s is interrupted and no message came after it began", turnID)
	}
	return nil
}

// number gives the admission number of a delivery, whether a stop ever covered it, and whether one did while it waited.
func (w *Watch) number(sessionID, delivery string) (n int64, stopped, doomed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = w.numbers[sessionID+" "+delivery]
	return n, n <= w.stopped[sessionID], w.doomed[numbered(sessionID, n)]
}

func numbered(sessionID string, n int64) string { return fmt.Sprintf("%s %d", sessionID, n) }

func (w *Watch) broke(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.say(format, args...)
}

func (w *Watch) say(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// rows are the rows of a session.
type rows struct {
	state  session.State
	inbox  []store.Message
	events []store.EventRow
}

// look checks all sessions and tasks as they are now.
func (w *Watch) look() {
	if w.Off {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sessions == nil {
		w.sessions, w.tasks, w.flagged, w.hurried = map[string]session.State{}, map[string]task.Task{}, map[string]bool{}, map[string]bool{}
		w.numbers, w.stopped, w.doomed = map[string]int64{}, map[string]int64{}, map[string]bool{}
	}
	sessions := map[string]*rows{}
	all := w.Items("") // at one moment
	for _, row := range all {
		collect(sessions, row)
	}
	for id, r := range sessions {
		if r.state.SessionID != "" {
			w.session(id, r)
		}
	}
	for _, row := range all {
		if strings.HasPrefix(text(row, key.PK), "TASK#") && text(row, key.SK) == key.StatusSK {
			w.task(text(row, key.PK)[len("TASK#"):], row, sessions)
		}
	}
	for id, r := range sessions {
		w.running(id, r.state)
	}
}

func collect(sessions map[string]*rows, row attr.Item) {
	parsed, ok := Parse(row)
	if !ok || parsed.Kind != "state" && parsed.Kind != "inbox" && parsed.Kind != "event" {
		return
	}
	id := parsed.Parts[0]
	if sessions[id] == nil {
		sessions[id] = &rows{}
	}
	r := sessions[id]
	switch parsed.Kind {
	case "state":
		decode(row, &r.state)
	case "inbox":
		r.inbox = append(r.inbox, decode(row, &store.Message{}))
	case "event":
		r.events = append(r.events, decode(row, &store.EventRow{}))
	}
}

// Parse tells what kind of row it is, and of what.
func Parse(row attr.Item) (key.Row, bool) {
	return key.Parse(key.Key{PK: text(row, key.PK), SK: text(row, key.SK)})
}

// rows are all rows of a session.
func (s *Stage) rows(sessionID string) []attr.Item {
	pk := key.SessionPK(sessionID)
	return slices.DeleteFunc(s.Dynamo.Items(pk), func(row attr.Item) bool { return text(row, key.PK) != pk })
}

func decode[T any](row attr.Item, v *T) T {
	if err := attributevalue.UnmarshalMap(row, v); err != nil {
		panic(err)
	}
	return *v
}

func text(row attr.Item, name string) string {
	s, _ := row[name].(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}
