package skill

import (
	"io"
	"mime"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Excerpt is a part of a bundled file.
type Excerpt struct {
	Text string
	Next int64  // where to read on; 0: this was the end
	Size int64  // of the whole file in bytes
	Type string // the media type of a file that is no text, which has no Text
}

// excerpt reads a part of a file of the given size.
func excerpt(f io.Reader, name string, size, offset int64, limit int) (Excerpt, error) {
	if offset > size {
		return Excerpt{}, fault.New(fault.Invalid, "%s has %d bytes, the offset %d is past its end", name, size, offset)
	}
	if _, err := io.CopyN(io.Discard, f, offset); err != nil {
		return Excerpt{}, fault.Wrap(fault.Unavailable, err, "read %s", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+utf8.UTFMax))
	if err != nil {
		return Excerpt{}, fault.Wrap(fault.Unavailable, err, "read %s", name)
	}
	for skip := 0; offset > 0 && skip < utf8.UTFMax && len(data) > 0 && !utf8.RuneStart(data[0]); skip++ {
		data, offset = data[1:], offset+1 // an offset within a character
	}
	part := cutRunes(data, limit)
	if slices.Contains(part, 0) || !utf8.Valid(part) {
		kind := mime.TypeByExtension(path.Ext(name))
		if kind == "" || strings.HasPrefix(kind, "text/") {
			kind = "application/octet-stream"
		}
		return Excerpt{Size: size, Type: kind}, nil
	}
	e := Excerpt{Text: string(part), Size: size}
	if end := offset + int64(len(part)); len(part) < len(data) {
		e.Next = end
	}
	return e, nil
}

// cutRunes cuts data to about limit bytes at the end of a character, which it goes past limit to reach if it is the only one.
func cutRunes(data []byte, limit int) []byte {
	if len(data) <= limit {
		return data
	}
	at := limit
	for at > 0 && limit-at < utf8.UTFMax && !utf8.RuneStart(data[at]) {
		at--
	}
	if at == 0 {
		_, at = utf8.DecodeRune(data)
	}
	return data[:at]
}
