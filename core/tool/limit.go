package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/steadfast-agents/steadfast/core/model"
)

// DefaultMaxResult is how many bytes of a tool's result are kept: 40 KB.
const DefaultMaxResult = 40 * 1024

// maxMedia is the largest image or document that is kept whole: 3.75 MB in base64, the Converse API's limit for an image.
const maxMedia = 5_000_000

// maxParts is how many parts a result keeps; the last of more is the text of all the others.
const maxParts = 64

// Limit keeps at most max bytes of the text and JSON of each result, 0: DefaultMaxResult. Of a longer one the head and the
// tail stay, with a note between them of how much was cut; JSON that is cut becomes text. Media that together are too large, and
// kinds of content nobody here knows, become a note. A tool that is limited already stays as it is if max is 0.
func Limit(t Tool, max int) Tool {
	if max <= 0 {
		if t.Spec().MaxResult > 0 {
			return t
		}
		max = DefaultMaxResult
	}
	return limited{Tool: t, max: max}
}

type limited struct {
	Tool
	max int
}

func (l limited) Spec() Spec {
	s := l.Tool.Spec()
	s.MaxResult = l.max
	return s
}

func (l limited) Call(ctx Context, input json.RawMessage) (any, error) {
	output, err := l.Tool.Call(ctx, input)
	if err != nil {
		return nil, err
	}
	parts, err := Content(output)
	if err != nil {
		return nil, err
	}
	return limitParts(parts, l.max), nil
}

// limitParts shares max among the parts in order: what is over when it is used up keeps a note.
func limitParts(parts []model.ResultPart, max int) []model.ResultPart {
	out := fewer(parts)
	for i, p := range out {
		out[i] = limitPart(p, max)
		max -= min(max, len(out[i].Text)+len(out[i].JSON))
	}
	return out
}

// fewer gives maxParts at most, and of media no more than maxMedia together.
func fewer(parts []model.ResultPart) []model.ResultPart {
	out := make([]model.ResultPart, 0, min(len(parts), maxParts))
	var rest strings.Builder
	for _, p := range parts {
		room, full := maxMedia-mediaBytes(out), len(parts) > maxParts && len(out) == maxParts-1
		if full {
			room = 0
		}
		if p.Raw != nil {
			p = limitMedia(p, room)
		}
		if !full {
			out = append(out, p)
			continue
		}
		rest.WriteString(p.Text)
		rest.Write(p.JSON)
		rest.WriteByte('\n')
	}
	if rest.Len() > 0 {
		out = append(out, model.ResultPart{Text: strings.TrimSuffix(rest.String(), "\n")})
	}
	return out
}

func mediaBytes(parts []model.ResultPart) (n int) {
	for _, p := range parts {
		n += len(p.Raw)
	}
	return n
}

func limitPart(p model.ResultPart, max int) model.ResultPart {
	switch {
	case p.Raw != nil:
		return p
	case len(p.JSON) > max:
		return model.ResultPart{Text: Cut(string(p.JSON), max)}
	case p.JSON == nil:
		return model.ResultPart{Text: Cut(p.Text, max)}
	}
	return p
}

// limitMedia keeps an image, document or video for which there is room.
func limitMedia(p model.ResultPart, room int) model.ResultPart {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(p.Raw, &fields); err != nil || len(fields) == 0 {
		return model.ResultPart{Text: fmt.Sprintf("[content of an unknown kind left out: %d bytes]", len(p.Raw))}
	}
	kind := slices.Sorted(maps.Keys(fields))[0]
	switch kind {
	case "image", "document", "video":
		if len(p.Raw) <= room {
			return p
		}
		return model.ResultPart{Text: fmt.Sprintf("[%s left out: %d bytes are too large]", kind, len(p.Raw))}
	}
	return model.ResultPart{Text: fmt.Sprintf("[content of the unknown kind %q left out: %d bytes]", Cut(kind, 64), len(p.Raw))}
}

// Beginning is the first max bytes of s, or fewer so that no character is split.
func Beginning(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return trimTail(s[:max])
}

// Cut shortens s to at most max bytes, keeping its beginning and its end, with a note between them of how many bytes are
// missing. No character is split. A max too small for the note keeps the note alone, so the result may then be longer.
func Cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	room := max - len(cutNote(len(s)))
	if room < 2 {
		return strings.TrimSpace(cutNote(len(s)))
	}
	head := trimTail(s[:room-room/2])
	tail := trimHead(s[len(s)-room/2:])
	return head + cutNote(len(s)-len(head)-len(tail)) + tail
}

func cutNote(n int) string { return fmt.Sprintf("\n[... %d bytes cut ...]\n", n) }

// trimTail drops a character that was split at the end.
func trimTail(s string) string {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

// trimHead drops the rest of a character that was split at the beginning.
func trimHead(s string) string {
	i := 0
	for i < len(s) && i < utf8.UTFMax && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}
