package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// Rows keep notes, as the store's table does.
type Rows interface {
	// PutMemory writes a note of a user. The same id again replaces it.
	PutMemory(ctx context.Context, owner task.Principal, id, text string, life time.Duration) error
	// Memories are a user's newest notes, newest first.
	Memories(ctx context.Context, owner task.Principal, limit int) ([]string, error)
}

// What is kept in the table.
const (
	Life    = 365 * 24 * time.Hour // of a note
	maxNote = 4 * 1024             // bytes
	Newest  = 200                  // notes that a recall looks at
)

// Table remembers in the product's own table, for where there is no AgentCore Memory: what users said, found again by the words it
// shares with a question. It knows nothing of meaning.
type Table struct {
	Rows      Rows
	Owner     task.Principal // the verified user
	SessionID string
}

// Recall gives those of the newest notes that share words with the query, most shared words first, newer before older. Faults:
// Unavailable.
func (t Table) Recall(ctx context.Context, query string) ([]string, error) {
	wanted := words(query)
	if len(wanted) == 0 {
		return nil, nil
	}
	notes, err := t.Rows.Memories(ctx, t.Owner, Newest)
	if err != nil {
		return nil, err
	}
	type hit struct {
		text   string
		shared int
	}
	var hits []hit
	for _, text := range notes {
		n := 0
		for word := range words(text) {
			if wanted[word] {
				n++
			}
		}
		if n > 0 {
			hits = append(hits, hit{text, n})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.shared, a.shared) })
	var all []string
	for _, h := range hits[:min(len(hits), MaxRecords)] {
		all = append(all, h.text)
	}
	return all, nil
}

// common are words that say nothing about what a text is about.
const common = " a about an and are as at be but by can do does for from had has have how i in is it me my of on or our please so that " +
	"the their them there they this to was we what when where which who why will with would you your "

// words are the words of a text that say something, in lower case.
func words(text string) map[string]bool {
	found := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if !strings.Contains(common, " "+word+" ") {
			found[word] = true
		}
	}
	return found
}

// Record keeps what the user said. Recorded again, a turn replaces its note. Faults: Unavailable.
func (t Table) Record(ctx context.Context, turn loop.Exchange) error {
	if len(words(turn.User)) == 0 {
		return nil
	}
	id := fmt.Sprintf("%013d-%s", turn.At.UnixMilli(), token(t.Owner.ID, t.SessionID, turn.Number)[:16])
	return t.Rows.PutMemory(ctx, t.Owner, id, tool.Beginning(turn.User, maxNote), Life)
}

// Flush has nothing to wait for: Record writes at once.
func (t Table) Flush(context.Context) error { return nil }
