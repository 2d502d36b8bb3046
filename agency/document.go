package agency

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// encode writes JSON without the escapes that only HTML needs.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// encodeKept writes a value that was read from JSON: what is as it was read keeps its bytes, and members that its type does not know
// stay. was is what the bytes were decoded to.
func encodeKept(read json.RawMessage, was, now any) ([]byte, error) {
	fresh, err := encode(now)
	if err != nil || read == nil {
		return fresh, err
	}
	old, err := encode(was)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(old, fresh) {
		return read, nil
	}
	return merge(read, old, fresh)
}

// member is one name and value of a JSON object, in its place.
type member struct {
	name  string
	value json.RawMessage
}

func merge(read, old, fresh []byte) ([]byte, error) {
	there, err := members(read)
	if err != nil {
		return nil, err
	}
	was, is := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	now, err := members(fresh)
	if err == nil {
		err = json.Unmarshal(old, &was)
	}
	if err != nil {
		return nil, err
	}
	for _, m := range now {
		is[m.name] = m.value
	}
	var out []member
	seen := map[string]bool{}
	for _, m := range there {
		seen[m.name] = true
		value, known := is[m.name]
		if _, dropped := was[m.name]; dropped && !known {
			continue
		}
		if known && !bytes.Equal(value, was[m.name]) {
			m.value = value
		}
		out = append(out, m)
	}
	for _, m := range now {
		if !seen[m.name] {
			out = append(out, m)
		}
	}
	return object(out)
}

func members(data []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("no JSON object: %v: %w", t, err)
	}
	var all []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)} // inside an object a token before a value is a name
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

func object(of []member) ([]byte, error) {
	b := []byte{'{'}
	for i, m := range of {
		name, err := encode(m.name)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), m.value...)
	}
	return append(b, '}'), nil
}

// sameJSON reports whether two values have one serialised text: the order of names counts, the spelling of numbers does not.
func sameJSON(a, b any) bool {
	x, err1 := canonical(a)
	y, err2 := canonical(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// canonical is the compact JSON of v with every number as JavaScript writes it.
func canonical(v any) ([]byte, error) {
	data, err := encode(v)
	if err != nil {
		return nil, err
	}
	var out []byte
	for i := 0; i < len(data); {
		n := 1
		switch c := data[i]; {
		case c == '"':
			n = stringLength(data[i:])
			out = append(out, data[i:i+n]...)
		case c == '-' || c >= '0' && c <= '9':
			n = numberLength(data[i:])
			out = append(out, numberSpelling(data[i:i+n])...)
		default:
			out = append(out, c)
		}
		i += n
	}
	return out, nil
}

func stringLength(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

func numberLength(data []byte) int {
	n := bytes.IndexFunc(data, func(r rune) bool { return !bytes.ContainsRune([]byte("+-.eE0123456789"), r) })
	if n < 0 {
		return len(data)
	}
	return n
}

func numberSpelling(digits []byte) string {
	var n float64
	if json.Unmarshal(digits, &n) != nil {
		return string(digits)
	}
	return NumberText(n)
}

// dateForms are the forms of a time that other writers use beside the canonical one.
var dateForms = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", time.DateOnly}

// readTime reads a stored time, to the millisecond. ok is false if it cannot be read.
func readTime(i contract.Instant) (t time.Time, ok bool) {
	for _, form := range dateForms {
		if t, err := time.Parse(form, string(i)); err == nil {
			return t.Truncate(time.Millisecond), true
		}
	}
	return time.Time{}, false
}
