package store

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// MaxItemBytes is the largest row ever written. DynamoDB's own limit is 400 KB (maximum item size).
const MaxItemBytes = 350 * 1024

// Bounds of a body that lies in parts.
const (
	maxPartBytes = MaxItemBytes - 8*1024 // of one part; the rest is for keys, names and other attributes
	maxParts     = 10_000                // of one body: 3.4 GB
)

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

// withBody makes w, a put or an update, carry body under the attribute name: in the row itself when it is small (see pack), else in
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
	if beside := len(name) + itemBytes(row); beside+len(body) <= MaxItemBytes {
		row[name] = pack(body, beside)
		return w
	}
	w, pieces := w.spread(body, first, expires)
	row["parts"], row["firstPart"] = number(pieces), number(first)
	if first == 0 {
		delete(row, "firstPart")
	}
	return w
}

// spread lays text beside the row, in parts numbered from first, and gives their number.
func (w Write) spread(text string, first int, expires int64) (Write, int) {
	pieces := splitText(text)
	if len(pieces) > maxParts {
		w.err = fault.New(fault.Limit, "%s: %d bytes are too many to store", w.key.SK, len(text))
		return w, 0
	}
	for i, piece := range pieces {
		p, err := encode(key.Part(w.key, first+i), "Part", part{Data: piece, ExpiresAt: expires})
		if err != nil {
			w.err = err
			return w, 0
		}
		w.parts = append(w.parts, p)
	}
	return w, len(pieces)
}

// splitText cuts text at code points, since a string attribute must be valid UTF-8.
func splitText(text string) []string {
	var pieces []string
	for len(text) > maxPartBytes {
		piece := beginning(text, maxPartBytes)
		pieces, text = append(pieces, piece), text[len(piece):]
	}
	return append(pieces, text)
}

// beginning is at most n bytes of text, cut at a code point if it is valid UTF-8.
func beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for cut := n; cut > n-utf8.UTFMax; cut-- {
		if utf8.RuneStart(text[cut]) {
			return text[:cut]
		}
	}
	return text[:n]
}

// body reads what withBody wrote. Faults: Internal when a part is missing, Unavailable.
func (t Table) body(ctx context.Context, row item, name string) (string, error) {
	body, ok, err := unpack(row[name])
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "read %s of %s", name, describe(keyOf(row)))
	}
	if ok {
		return body, nil
	}
	var h head
	if err := decode(row, &h); err != nil {
		return "", err
	}
	return t.join(ctx, keyOf(row), h)
}

// join reads the parts of a row's text.
func (t Table) join(ctx context.Context, k key.Key, h head) (string, error) {
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

// expired reports whether a row's time is over. A row without a time does not end.
func expired(row item, now time.Time) bool {
	n, ok := row[key.ExpiresAt].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	at, err := strconv.ParseInt(n.Value, 10, 64)
	return err == nil && at <= now.Unix()
}

// absentOrExpired is the condition of a row that may be written once, or over one that has expired.
func absentOrExpired(now int64) cond.Expr {
	return cond.Or(cond.Absent(key.PK), cond.Is(key.ExpiresAt, cond.OpLe, now))
}
