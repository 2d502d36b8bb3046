package store

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/snapshot"
)

// MaxItemBytes is the largest row ever written. DynamoDB's own limit is 400 KB (maximum item size).
const MaxItemBytes = snapshot.MaxItemBytes

// head is what every row with a body carries about its parts.
type head struct {
	Parts     int `dynamodbav:"parts,omitempty"`     // pieces of the body that lie in rows of their own
	FirstPart int `dynamodbav:"firstPart,omitempty"` // number of the first
}

// part is one piece of a large body.
type part struct {
	Data      string `dynamodbav:"data"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// withBody makes w, a put or an update, carry body under the attribute name: in the row itself when it is small, else in
// parts numbered from first. Two writers that may write the same row use different numbers. expires is the parts' own, in
// seconds.
func (w Write) withBody(name, body string, first int, expires int64) Write {
	if w.err != nil {
		return w
	}
	row := w.put
	if row == nil {
		row = w.set
	}
	if len(body)+itemBytes(row) <= MaxItemBytes {
		row[name] = &types.AttributeValueMemberS{Value: body}
		return w
	}
	pieces := splitText(body)
	if len(pieces) > snapshot.MaxParts {
		w.err = fault.New(fault.Limit, "%s: %d bytes are too many to store", w.key.SK, len(body))
		return w
	}
	for i, piece := range pieces {
		p, err := encode(key.Part(w.key, first+i), "Part", part{Data: piece, ExpiresAt: expires})
		if err != nil {
			w.err = err
			return w
		}
		w.parts = append(w.parts, p)
	}
	row["parts"], row["firstPart"] = number(len(pieces)), number(first)
	if first == 0 {
		delete(row, "firstPart")
	}
	return w
}

// splitText cuts text at code points, since a string attribute must be valid UTF-8.
func splitText(text string) []string {
	var pieces []string
	for len(text) > snapshot.MaxPartBytes {
		cut := snapshot.MaxPartBytes
		for cut > 0 && text[cut]&0xC0 == 0x80 {
			cut--
		}
		pieces, text = append(pieces, text[:cut]), text[cut:]
	}
	return append(pieces, text)
}

// body reads what withBody wrote. Faults: Internal when a part is missing, Unavailable.
func (t Table) body(ctx context.Context, row item, name string) (string, error) {
	if s, ok := row[name].(*types.AttributeValueMemberS); ok {
		return s.Value, nil
	}
	var h head
	if err := decode(row, &h); err != nil {
		return "", err
	}
	k := keyOf(row)
	var b strings.Builder
	for i := range h.Parts {
		var p part
		found, err := t.getInto(ctx, key.Part(k, h.FirstPart+i), &p)
		if err != nil {
			return "", err
		}
		if !found {
			return "", fault.New(fault.Internal, "part %d of %s is missing", i, describe(k))
		}
		b.WriteString(p.Data)
	}
	return b.String(), nil
}

// dropParts is the removal of the parts of a row that is about to go.
func dropParts(row item) []Write {
	var h head
	if decode(row, &h) != nil || h.Parts == 0 {
		return nil
	}
	writes := make([]Write, 0, h.Parts)
	for i := range h.Parts {
		writes = append(writes, remove(key.Part(keyOf(row), h.FirstPart+i)))
	}
	return writes
}

// remove is the removal of a row, there or not.
func remove(k key.Key) Write { return Write{key: k, del: true} }

func keyOf(row item) key.Key {
	return key.Key{PK: text(row, key.PK), SK: text(row, key.SK)}
}

func text(row item, name string) string {
	if s, ok := row[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// itemBytes measures a row as DynamoDB does, or a little more.
func itemBytes(row item) int {
	n := 0
	for name, v := range row {
		n += len(name) + valueBytes(v)
	}
	return n
}

func valueBytes(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return len(v.Value)/2 + 2
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + itemBytes(v.Value)
	case *types.AttributeValueMemberL:
		n := 3 + len(v.Value)
		for _, e := range v.Value {
			n += valueBytes(e)
		}
		return n
	case *types.AttributeValueMemberSS:
		n := 3
		for _, e := range v.Value {
			n += len(e)
		}
		return n
	}
	return 1
}

// absentOrExpired is the condition of a row that may be written once, or over one that has expired.
func absentOrExpired(now int64) cond.Expr {
	return cond.Or(cond.Absent(key.PK), cond.Is(key.ExpiresAt, cond.OpLe, now))
}
