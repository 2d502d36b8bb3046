package store

import (
	"context"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

// Sizes of a task's texts. Together with the other attributes they stay under MaxItemBytes.
const (
	maxInline  = MaxItemBytes / 4                         // of detail and output; over it they lie in parts
	maxRequest = contract.MaxMessageBytes                 // a longer one is refused before it runs; the row keeps its beginning
	maxReason  = 16 * 1024                                // of an error's text; the rest is cut
	textLife   = int64(40 * 24 * time.Hour / time.Second) // parts live longer than any row that a later write extends
)

// longText is a text that may lie in parts, and its attribute.
type longText struct {
	name string
	text *string
}

// longTexts are those of a task.
func longTexts(t *task.Task) []longText {
	return []longText{{"detail", &t.Detail}, {"output", &t.Output}}
}

// cutTexts takes the long texts out of a record, in the order of longTexts, and bounds the others.
func cutTexts(t *task.Task) []longText {
	t.Request, t.Error, t.OutputParts = beginning(t.Request, maxRequest), beginning(t.Error, maxReason), 0
	detail, output := t.Detail, t.Output
	t.Detail, t.Output = "", ""
	return []longText{{"detail", &detail}, {"output", &output}}
}

// withText makes w, a put or an update, carry a text in the row or, when it is large, in parts. The numbers of the parts follow
// from the text, so that rivals for the row do not write the same ones.
func (w Write) withText(name, text string, expires int64) Write {
	if w.err != nil {
		return w
	}
	attributes, count, first := w.put, name+"Parts", name+"First"
	if w.put == nil {
		attributes = w.set
		w.remove = append(w.remove, name, count, first)
	}
	switch {
	case len(text) > maxInline:
		from := firstPart(name, text)
		spread, pieces := w.spread(text, from, expires+textLife)
		attributes[count], attributes[first] = number(pieces), number(from)
		w = spread
	case text != "":
		attributes[name] = &types.AttributeValueMemberS{Value: text}
	}
	w.remove = without(w.remove, attributes)
	return w
}

// without leaves out the names of attributes that are set.
func without(names []string, set item) []string {
	var rest []string
	for _, name := range names {
		if _, ok := set[name]; !ok {
			rest = append(rest, name)
		}
	}
	return rest
}

func firstPart(name, text string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	h.Write([]byte(text))
	return int(h.Sum32()%99_000) * 1000
}

// joinTexts fills in the texts that lie in parts.
func (t Table) joinTexts(ctx context.Context, row item, r *task.Task) error {
	for _, x := range longTexts(r) {
		h := head{Parts: whole(row, x.name+"Parts"), FirstPart: whole(row, x.name+"First")}
		if h.Parts == 0 {
			continue
		}
		text, err := t.join(ctx, keyOf(row), h)
		if err != nil {
			return err
		}
		*x.text = text
	}
	return nil
}

// whole reads a whole number, 0 if it is missing.
func whole(row item, name string) int {
	if n, ok := row[name].(*types.AttributeValueMemberN); ok {
		v, _ := strconv.Atoi(n.Value)
		return v
	}
	return 0
}
