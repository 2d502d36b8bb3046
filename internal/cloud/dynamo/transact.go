package dynamo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// tokenLife is how long DynamoDB remembers a ClientRequestToken.
const tokenLife = 10 * time.Minute

type transactRequest struct {
	TransactItems               []transactItem
	ClientRequestToken          string `json:",omitempty"`
	ReturnConsumedCapacity      string `json:",omitempty"`
	ReturnItemCollectionMetrics string `json:",omitempty"`
}

type transactItem struct {
	Put, Update, Delete, ConditionCheck json.RawMessage `json:",omitempty"`
}

type transactAnswer struct {
	ConsumedCapacity []*capacity `json:",omitempty"`
}

func (f *Front) transactWrite(body []byte) (any, error) {
	var r transactRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	if len(r.ClientRequestToken) > 36 {
		return nil, validation("1 validation error detected: Value at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36")
	}
	actions, err := f.transactActions(r)
	if err != nil {
		return nil, err
	}
	hash, err := r.hash()
	if err != nil {
		return nil, err
	}
	rows, err := f.performAll(actions, r.ClientRequestToken, hash)
	if err != nil {
		return nil, err
	}
	var used capacities
	for i, a := range actions {
		if rows == nil { // a repetition reads what it wrote before
			used.of(a.table).read(nil, a.key.Size(), 2)
			continue
		}
		used.of(a.table).write(rows[i].old, rows[i].now, 2)
	}
	return transactAnswer{used.shown(r.ReturnConsumedCapacity)}, nil
}

// hash tells requests with one token apart. Clients write the members of an object in any order: it does not count.
func (r transactRequest) hash() (string, error) {
	b, err := json.Marshal(r.TransactItems)
	if err != nil {
		return "", err
	}
	var plain any
	if err := json.Unmarshal(b, &plain); err != nil {
		return "", err
	}
	if b, err = json.Marshal(plain); err != nil { // objects in the order of their names
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

func (f *Front) transactActions(r transactRequest) ([]*action, error) {
	if n := len(r.TransactItems); n < 1 || n > maxActions {
		return nil, validation("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length between 1 and %d", maxActions)
	}
	var out []*action
	seen := map[string]bool{}
	for _, item := range r.TransactItems {
		a, err := f.transactAction(item)
		if err != nil {
			return nil, err
		}
		if id := a.id(); seen[id] {
			return nil, validation("Transaction request cannot include multiple operations on one item")
		} else {
			seen[id] = true
		}
		out = append(out, a)
	}
	return out, nil
}

// id names the row that the action is about.
func (a *action) id() string {
	return identity(a.table, a.key)
}

func identity(t *table, key value.Item) string {
	id, _ := json.Marshal([]string{t.spec.Name, key[t.spec.HashKey].Str, key[t.spec.SortKey].Str}) // strings always marshal
	return string(id)
}

func (f *Front) transactAction(item transactItem) (*action, error) {
	var raw json.RawMessage
	var kind actionKind
	n := 0
	for k, b := range map[actionKind]json.RawMessage{putAction: item.Put, updateAction: item.Update, deleteAction: item.Delete, checkAction: item.ConditionCheck} {
		if b != nil {
			raw, kind = b, k
			n++
		}
	}
	if n != 1 {
		return nil, validation("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	var r actionRequest
	if err := decode(raw, &r); err != nil {
		return nil, err
	}
	return f.action(kind, r)
}

// performAll runs every action or none. It gives no rows when the token shows that this was done before.
func (f *Front) performAll(actions []*action, request, hash string) ([]row, error) {
	f.mu.Lock()
	rows, position, err := f.attempt(actions, request, hash)
	f.mu.Unlock()
	return rows, errors.Join(f.journal.Wait(position), err)
}

func (f *Front) attempt(actions []*action, request, hash string) ([]row, int64, error) {
	now := f.cfg.Now()
	if t, ok := f.tokens[request]; ok && request != "" && now.Sub(t.At) < tokenLife {
		if t.Hash != hash {
			return nil, f.journal.Position(), &apiError{Code: "IdempotentParameterMismatchException", Message: "The request token was used before with other parameters"}
		}
		return nil, f.journal.Position(), nil
	}
	rows := make([]row, len(actions))
	outcomes := make([]error, len(actions))
	size := 0
	for i, a := range actions {
		old := a.table.get(a.key)
		var after value.Item
		after, outcomes[i] = a.run(old)
		rows[i] = row{a.table, old, after, a.key}
		size += max(old.Size(), after.Size())
	}
	if err := cancelled(actions, outcomes); err != nil {
		return nil, f.journal.Position(), err
	}
	if size > maxTransact {
		return nil, f.journal.Position(), validation("Transaction request cannot exceed the maximum aggregate size of 4 MB; size: %d bytes", size)
	}
	return rows, f.commit(change{writes: written(actions, rows), request: request, token: token{hash, now}}), nil
}

func written(actions []*action, rows []row) []row {
	var out []row
	for i, a := range actions {
		if a.kind != checkAction {
			out = append(out, rows[i])
		}
	}
	return out
}

type reason struct {
	Code    string
	Message string     `json:",omitempty"`
	Item    value.Item `json:",omitempty"`
}

// cancelled is the error of a transaction in which an action failed: one reason for each action, in order.
func cancelled(actions []*action, outcomes []error) error {
	if errors.Join(outcomes...) == nil {
		return nil
	}
	reasons := make([]reason, len(actions))
	codes := make([]string, len(actions))
	for i, err := range outcomes {
		reasons[i] = reasonOf(actions[i], err)
		codes[i] = reasons[i].Code
	}
	return &apiError{
		Code:    "TransactionCanceledException",
		Message: "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]",
		Fields:  map[string]any{"CancellationReasons": reasons},
	}
}

func reasonOf(a *action, err error) reason {
	var failed conditionFailed
	switch {
	case err == nil:
		return reason{Code: "None"}
	case errors.As(err, &failed):
		r := reason{Code: "ConditionalCheckFailed", Message: failed.Error()}
		if a.returnOld {
			r.Item = failed.old
		}
		return r
	}
	return reason{Code: "ValidationError", Message: asAPIError(err).Message}
}
