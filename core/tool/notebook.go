package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// maxNotes bounds all notebooks of a conversation together, in bytes.
const maxNotes = 256 * 1024

// Notebook is the built-in tool notebook: named texts that the model writes and reads again later in its work. It stores nothing:
// its calls are in the conversation, so each call reads the earlier ones and is, together with them, the notebook. Nothing is lost
// when a worker dies, two conversations never share a note, and notes go when the calls that made them leave the history. It is
// offered only where it is named.
type Notebook struct{}

type notebookIn struct {
	Mode       string `json:"mode" enum:"create,list,read,write,clear"`
	Name       string `json:"name" default:"default" jsonschema:"the notebook's name"`
	NewStr     string `json:"newStr,omitempty" jsonschema:"the text: of create all of it; of write what is put in"`
	OldStr     string `json:"oldStr,omitempty" jsonschema:"of write: this text is replaced by newStr"`
	InsertLine *int   `json:"insertLine,omitempty" jsonschema:"of write: newStr goes after this line; 0 is the beginning, -1 the end"`
	ReadRange  []int  `json:"readRange,omitempty" jsonschema:"of read: first and last line, from 1; negative counts from the end"`
}

// Spec describes the tool.
func (n Notebook) Spec() Spec { return n.typed().Spec() }

// Call does what the input says to the notebooks that the earlier calls have left.
func (n Notebook) Call(ctx Context, input json.RawMessage) (any, error) {
	return n.typed().Call(ctx, input)
}

func (n Notebook) typed() Tool {
	return ByName(New("notebook", "Keeps notes for you while you work: create a notebook, write into it, read it again, list or clear notebooks.", n.do))
}

func (n Notebook) do(ctx Context, in notebookIn) (string, error) {
	books := notes{}
	replay := New("notebook", "", func(_ Context, in notebookIn) (string, error) { return books.apply(in) })
	for _, earlier := range ctx.Earlier() {
		_, _ = replay.Call(ctx, earlier) // one that failed fails again, and leaves nothing
	}
	return books.apply(in)
}

// notes are texts by name.
type notes map[string]string

func (b notes) apply(in notebookIn) (string, error) {
	text, exists := b[in.Name]
	if !exists && (in.Mode == "read" || in.Mode == "write") {
		return "", b.fail("there is no notebook %q: %s", Cut(in.Name, 80), b.list())
	}
	switch in.Mode {
	case "list":
		return b.list(), nil
	case "read":
		return readLines(text, in.ReadRange)
	case "clear":
		b[in.Name] = ""
		return fmt.Sprintf("Notebook %q is empty.", in.Name), nil
	case "create":
		return b.put(in.Name, in.NewStr)
	}
	text, err := written(text, in)
	if err != nil {
		return "", err
	}
	return b.put(in.Name, text)
}

func (b notes) fail(format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Because("tool_input")
}

func (b notes) put(name, text string) (string, error) {
	size := len(name) + len(text)
	for other, t := range b {
		if other != name {
			size += len(other) + len(t)
		}
	}
	if size > maxNotes {
		return "", fault.New(fault.Limit, "the notebooks would be %d bytes, the limit is %d", size, maxNotes)
	}
	b[name] = text
	return fmt.Sprintf("Notebook %q has %d lines.", name, len(lines(text))), nil
}

func (b notes) list() string {
	if len(b) == 0 {
		return "There are no notebooks."
	}
	var s strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b)) {
		fmt.Fprintf(&s, "%s: %d lines\n", name, len(lines(b[name])))
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// written gives text as a write leaves it: replaced, put in after a line, or put at the end.
func written(text string, in notebookIn) (string, error) {
	if in.OldStr != "" {
		if !strings.Contains(text, in.OldStr) {
			return "", fault.New(fault.Invalid, "oldStr: the notebook %q does not hold this text", Cut(in.Name, 80)).Because("tool_input")
		}
		return strings.Replace(text, in.OldStr, in.NewStr, 1), nil
	}
	all := lines(text)
	at := len(all)
	if in.InsertLine != nil && *in.InsertLine >= 0 {
		at = min(*in.InsertLine, len(all))
	}
	return strings.Join(slices.Insert(all, at, strings.TrimSuffix(in.NewStr, "\n")), "\n"), nil
}

// lines splits text; an empty one has none.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// readLines gives the lines of a range with their numbers, or the whole text.
func readLines(text string, within []int) (string, error) {
	if len(within) == 0 {
		return text, nil
	}
	all := lines(text)
	if len(within) != 2 {
		return "", fault.New(fault.Invalid, "readRange: must be the first and the last line").Because("tool_input")
	}
	from, to := lineOf(within[0], len(all)), lineOf(within[1], len(all))
	if from < 1 || to < from || from > len(all) {
		return "", fault.New(fault.Invalid, "readRange: the notebook has %d lines", len(all)).Because("tool_input")
	}
	var s strings.Builder
	for i := from; i <= min(to, len(all)); i++ {
		fmt.Fprintf(&s, "%d: %s\n", i, all[i-1])
	}
	return strings.TrimSuffix(s.String(), "\n"), nil
}

// lineOf counts a negative line from the end.
func lineOf(n, of int) int {
	if n < 0 {
		return of + 1 + n
	}
	return n
}
