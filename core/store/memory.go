package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/task"
)

type memoryRow struct {
	Text      string `dynamodbav:"text"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// PutMemory writes a note of a user; ids order notes by time. Idempotent. Faults: Limit, Unavailable.
func (t Table) PutMemory(ctx context.Context, owner task.Principal, id, text string, life time.Duration) error {
	k := key.Memory(string(owner.Type), owner.ID, id)
	row, err := encode(k, "Memory", memoryRow{Text: text, ExpiresAt: t.now().Add(life).Unix()})
	return t.Commit(ctx, Write{key: k, put: row, err: err})
}

// Memories are a user's newest notes, newest first, at most limit. Faults: Unavailable.
func (t Table) Memories(ctx context.Context, owner task.Principal, limit int) ([]string, error) {
	of := key.Memory(string(owner.Type), owner.ID, "")
	var all []string
	for row, err := range t.query(ctx, scope{pk: of.PK, keys: prefix(of.SK), backward: true, pageSize: int32(limit)}) {
		if err != nil {
			return nil, err
		}
		if text, ok := row["text"].(*types.AttributeValueMemberS); ok && !expired(row, t.now()) {
			all = append(all, text.Value)
		}
		if len(all) == limit {
			break
		}
	}
	return all, nil
}
