package bedrock

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Bounds of what a directive may ask for.
const (
	maxWords = 20_000
	maxTimes = 20
	maxSlow  = time.Minute
)

// directives are the instructions found in a user's text.
type directives struct {
	stages  [][]wanted // calls to ask for, one reply each
	forever []wanted   // calls to ask for in every reply
	unknown []string   // tools that were asked for and are not there
	words   int        // "say N words"; -1: not said
	literal *string    // say "text"
	slow    time.Duration
	think   bool
	secret  bool
	fault   fault
}

// wanted is a tool call that was asked for. input is empty if no JSON was given.
type wanted struct{ name, input string }

// fault is a failure that was asked for: an exception, or (no name) the plain end of the stream, after some tokens.
type fault struct {
	set       bool
	exception string
	after     int
	once      bool // only the first attempt of a request
}

var (
	sayWords = regexp.MustCompile(`(?i)\bsay (\d{1,6}) words?\b`)
	sayText  = regexp.MustCompile(`(?i)\bsay "([^"]+)"`)
	slowness = regexp.MustCompile(`(?i)\bslow (\d{1,6}) ?ms\b`)
	thoughts = regexp.MustCompile(`(?i)\bthink (?:aloud|(secretly))\b`)
	failing  = regexp.MustCompile(`\b(?i:fail(?: with)?) ([A-Z]\w+Exception)\b`)
	breaking = regexp.MustCompile(`\b(?i:break(?: with)?) ([A-Z]\w+Exception) (?i:after) (\d{1,6})\b`)
	onlyOnce = regexp.MustCompile(`(?i)\bonce\b`)
	cutting  = regexp.MustCompile(`(?i)\bcut after (\d{1,6})\b`)
)

// parse finds the directives in text. tools are those that may be called.
func parse(text string, tools []ToolSpec) directives {
	d := directives{words: -1, slow: -1}
	if m := sayWords.FindStringSubmatch(text); m != nil {
		d.words = min(number(m[1]), maxWords)
	}
	if m := sayText.FindStringSubmatch(text); m != nil {
		d.literal = &m[1]
	}
	if m := slowness.FindStringSubmatch(text); m != nil {
		d.slow = min(time.Duration(number(m[1]))*time.Millisecond, maxSlow)
	}
	if m := thoughts.FindStringSubmatch(text); m != nil {
		d.think, d.secret = true, m[1] != ""
	}
	d.fault = parseFault(text)
	d.fault.once = d.fault.set && onlyOnce.MatchString(text)
	(&callScanner{text: text, tools: tools, d: &d}).scan()
	return d
}

func parseFault(text string) fault {
	if m := failing.FindStringSubmatch(text); m != nil {
		return fault{set: true, exception: m[1]}
	}
	if m := breaking.FindStringSubmatch(text); m != nil {
		return fault{set: true, exception: m[1], after: number(m[2])}
	}
	if m := cutting.FindStringSubmatch(text); m != nil {
		return fault{set: true, after: number(m[1])}
	}
	return fault{}
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the patterns let only a few digits through
	return n
}

var (
	nextCall = regexp.MustCompile(`(?i)\b(keep calling|call|use|run|then)\b`)
	callName = regexp.MustCompile("^\\s*(?:(?i:the|tool)\\s+)*[`\"']?([a-zA-Z0-9_-]{1,64})[`\"']?(?:\\s+tool\\b)?")
	withJSON = regexp.MustCompile(`(?i)^\s*with\s*`)
	times    = regexp.MustCompile(`(?i)^\s*(\d{1,3}) times\b`)
	listMore = regexp.MustCompile(`(?i)^\s*(?:,\s*and\b|,|and\b|&)\s*(?:(?:call|use|run)\b)?`)
)

// callScanner reads the calls out of a text, left to right, so that words inside a call's JSON are never read as
// directives.
type callScanner struct {
	text  string
	tools []ToolSpec
	d     *directives
	next  bool // "then" was read: the next call begins a stage
}

func (s *callScanner) scan() {
	for {
		at := nextCall.FindStringSubmatchIndex(s.text)
		if at == nil {
			return
		}
		word := strings.ToLower(s.text[at[2]:at[3]])
		s.text = s.text[at[3]:]
		if word == "then" {
			s.next = true
			continue
		}
		for s.call(word) {
		}
	}
}

// call reads one call and reports whether the text goes on with another one.
func (s *callScanner) call(word string) bool {
	m := callName.FindStringSubmatchIndex(s.text)
	if m == nil {
		return false
	}
	name, known := s.tool(s.text[m[2]:m[3]])
	if !known {
		if word == "call" && strings.ContainsAny(name, "_-") {
			s.d.unknown = append(s.d.unknown, name)
		}
		return false
	}
	s.text = s.text[m[1]:]
	w := wanted{name: name, input: s.json()}
	if word == "keep calling" {
		s.d.forever = append(s.d.forever, w)
	} else {
		s.add(w, s.times())
	}
	more := listMore.FindString(s.text)
	s.text = s.text[len(more):]
	return more != ""
}

// tool gives the name as the tool list spells it.
func (s *callScanner) tool(name string) (string, bool) {
	for _, t := range s.tools {
		if strings.EqualFold(t.Name, name) {
			return t.Name, true
		}
	}
	return name, false
}

// json reads `with {...}`, if it is there.
func (s *callScanner) json() string {
	with := withJSON.FindString(s.text)
	rest := s.text[len(with):]
	if with == "" || !strings.HasPrefix(rest, "{") {
		return ""
	}
	dec := json.NewDecoder(strings.NewReader(rest))
	var input json.RawMessage
	if err := dec.Decode(&input); err != nil {
		return ""
	}
	s.text = rest[dec.InputOffset():]
	return string(input)
}

func (s *callScanner) times() int {
	m := times.FindStringSubmatch(s.text)
	if m == nil {
		return 1
	}
	s.text = s.text[len(m[0]):]
	return min(max(number(m[1]), 1), maxTimes)
}

func (s *callScanner) add(w wanted, n int) {
	if s.next || len(s.d.stages) == 0 {
		s.d.stages = append(s.d.stages, nil)
		s.next = false
	}
	last := len(s.d.stages) - 1
	for range n {
		s.d.stages[last] = append(s.d.stages[last], w)
	}
}
