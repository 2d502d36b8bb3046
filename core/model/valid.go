package model

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
)

// Limits of the model service.
const (
	MaxToolName    = 64 // characters of a tool's name: letters, digits, _ and -
	MaxCallID      = 64 // characters of a call's id: those of a name, and . and :
	MaxCachePoints = 4  // cache points of one request; those a client adds for system text and tools count too
)

// ToolName gives the name under which a tool is known to the model: name itself if the service takes it, else a valid
// name made from it. Stable, and two names never become one (but for an 8-digit hash). Idempotent.
func ToolName(name string) string { return validName(name, "tool", MaxToolName, nameRune) }

// CallID gives the id under which a call is known to the model: id itself if the service takes it, else a valid one
// made from it, as ToolName does. Idempotent.
func CallID(id string) string { return validName(id, "call", MaxCallID, idRune) }

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

func idRune(r rune) bool { return nameRune(r) || r == '.' || r == ':' }

// allowed reports whether s is 1 to limit characters, all of which ok takes.
func allowed(s string, limit int, ok func(rune) bool) bool {
	return s != "" && len(s) <= limit && strings.IndexFunc(s, func(r rune) bool { return !ok(r) }) < 0
}

func validName(s, word string, limit int, ok func(rune) bool) string {
	if allowed(s, limit, ok) {
		return s
	}
	return hashed(s, s, word, limit, ok)
}

// hashed makes a valid name of the readable start of s and a hash of source.
func hashed(s, source, word string, limit int, ok func(rune) bool) string {
	h := fnv.New32a()
	h.Write([]byte(source))
	tail := "_" + hex.EncodeToString(h.Sum(nil))
	if s == "" {
		s = word
	}
	head := make([]byte, 0, limit)
	for _, r := range s {
		if len(head) == limit-len(tail) {
			break
		}
		if !ok(r) {
			r = '_'
		}
		head = append(head, byte(r))
	}
	return string(head) + tail
}

// nthID gives the id of the nth call (n from 2) that came with the same id.
func nthID(id string, n int) string {
	return hashed(id, id+"\x00"+strconv.Itoa(n), "call", MaxCallID, idRune)
}

// blank reports whether text shows nothing: the service refuses a text block of white space, and one of control or
// zero-width characters only says nothing either.
func blank(text string) bool {
	return strings.IndexFunc(text, visible) < 0
}

func visible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.Is(unicode.Cc, r) && !unicode.Is(unicode.Cf, r)
}

// isObject reports whether raw is one JSON object.
func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) && json.Valid(raw)
}

// object makes a JSON object of any tool input: an object stays byte for byte, text that holds JSON is read, nothing
// (null, blank text, JSON that was cut off) becomes {}, and any other value is kept as {"input": value}.
func object(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	for range 4 { // JSON in text in text ...
		var text string
		if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
			break
		}
		if inner := bytes.TrimSpace([]byte(text)); blank(text) || json.Valid(inner) {
			raw = inner
			continue
		}
		break
	}
	switch {
	case blank(string(raw)), string(raw) == "null", !json.Valid(raw):
		return json.RawMessage("{}")
	case raw[0] == '{':
		return raw
	}
	wrapped, err := marshal(map[string]json.RawMessage{"input": raw})
	if err != nil {
		return json.RawMessage("{}")
	}
	return wrapped
}
