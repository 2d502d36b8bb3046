package bedrock

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
)

// plan decides what to answer.
func plan(c conversation, d directives) answer {
	a := answer{secret: d.secret}
	if d.think {
		a.thought = "The user asks: " + clip(c.ask, 200)
	}
	for i, w := range wantedNow(c, d) {
		input := w.input
		if input == "" {
			input = sample(specOf(c.tools, w.name), c.ask)
		}
		a.calls = append(a.calls, plannedCall{id: fmt.Sprintf("tooluse_%s_%d", c.id, i), name: w.name, input: input})
	}
	switch {
	case len(a.calls) > 0:
	case c.schema != nil && d.literal == nil:
		a.text = sampleOf(c.schema, c.ask)
	default:
		a.text = talk(c, d)
	}
	return a
}

// wantedNow gives the calls of this reply.
func wantedNow(c conversation, d directives) []wanted {
	var calls []wanted
	switch {
	case c.round < len(d.stages):
		calls = d.stages[c.round]
	case len(d.forever) > 0:
		calls = d.forever
	case c.round == 0 && len(d.stages) == 0:
		calls = append(timeCall(c), reminderCall(c)...)
	}
	if c.forced == "" || len(c.tools) == 0 {
		return calls
	}
	if c.forced == "*" {
		if len(calls) == 0 {
			calls = []wanted{{name: c.tools[0].Name}}
		}
		return calls
	}
	for _, stage := range append(d.stages, calls) {
		for _, w := range stage {
			if w.name == c.forced {
				return []wanted{w}
			}
		}
	}
	return []wanted{{name: c.forced}}
}

var (
	asksTime = regexp.MustCompile(`(?i)\bwhat(?:'s| is|’s)? the (?:current )?(?:time|date)\b|\bwhat time\b|\bwhat day is\b|\btoday's date\b|\bcurrent (?:time|date)\b`)
	timeTool = regexp.MustCompile(`(?i)(?:^|[_-])time(?:$|[_-])`)
)

// timeCall calls the first tool that tells the time, if the user asks for it.
func timeCall(c conversation) []wanted {
	if !asksTime.MatchString(c.ask) {
		return nil
	}
	for _, t := range c.tools {
		if timeTool.MatchString(t.Name) {
			return []wanted{{name: t.Name}}
		}
	}
	return nil
}

var asksReminder = regexp.MustCompile(`(?i)\bremind me (in|after|every) (\d{1,6}) ?(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)\b(?: to| about|:)? ([^\n"]+)`)

// reminderCall calls remind_me, if the user asks to be reminded and it is there. Woken, the model says what it is time for.
func reminderCall(c conversation) []wanted {
	m := asksReminder.FindStringSubmatch(c.ask)
	if m == nil || specOf(c.tools, "remind_me").Name == "" {
		return nil
	}
	when := "delay"
	if strings.EqualFold(m[1], "every") {
		when = "every"
	}
	input, err := json.Marshal(map[string]string{
		when: m[2] + strings.ToLower(m[3][:1]), "prompt": fmt.Sprintf(`Say "It is time to %s."`, strings.TrimRight(m[4], " .!")),
	})
	if err != nil { // text always encodes
		return nil
	}
	return []wanted{{name: "remind_me", input: string(input)}}
}

// talk gives the text of a reply without calls.
func talk(c conversation, d directives) string {
	switch {
	case d.literal != nil:
		return *d.literal
	case d.words >= 0:
		return count(d.words)
	case len(c.results) > 0:
		return report(c.results)
	case len(d.unknown) > 0:
		return "I have no tool named " + strings.Join(d.unknown, ", ") + ". " + listTools(c.tools)
	}
	for _, topic := range []func(conversation) string{recallFact, recallSaid, describe} {
		if text := topic(c); text != "" {
			return text
		}
	}
	return fmt.Sprintf("I am the offline model of the local cloud: I follow simple instructions and do not think. You asked: “%s”", clip(c.ask, 500))
}

// count says n words, each different, so that a lost or doubled piece shows. No words are one dot: text is never empty.
func count(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", i+1)
	}
	if n == 0 {
		return "."
	}
	return strings.Join(words, " ")
}

// report tells what the tools answered.
func report(results []answered) string {
	lines := make([]string, len(results))
	for i, r := range results {
		verb := "answered"
		if r.status == "error" {
			verb = "failed"
		}
		lines[i] = fmt.Sprintf("%s %s: %s", r.name, verb, clip(r.text, 2000))
	}
	return strings.Join(lines, "\n")
}

var (
	askFact = regexp.MustCompile(`(?i)\b(?:what(?:'s|’s| is| was)|who is) my ([a-z][a-z ]{0,40}?)\s*[?.!]*\s*$`)
	asksWho = regexp.MustCompile(`(?i)\bwho am i\b|\bdo you know my name\b`)
)

// recallFact answers "what is my X?" from an earlier "my X is Y", newest first.
func recallFact(c conversation) string {
	fact := "name"
	if m := askFact.FindStringSubmatch(c.ask); m != nil {
		fact = strings.ToLower(m[1])
	} else if !asksWho.MatchString(c.ask) {
		return ""
	}
	told := regexp.MustCompile(`(?i)\bmy ` + regexp.QuoteMeta(fact) + ` (?:is|was) ([^.,!?;\n<]+)`)
	heard := append(append([]string{}, c.context...), c.said...)
	for i := len(heard) - 1; i >= 0; i-- {
		if m := told.FindAllStringSubmatch(heard[i], -1); m != nil {
			return fmt.Sprintf("Your %s is %s.", fact, strings.TrimSpace(m[len(m)-1][1]))
		}
	}
	return fmt.Sprintf("You have not told me your %s.", fact)
}

var asksSaid = regexp.MustCompile(`(?i)\bwhat (?:did i|have i|was the) (?:just |ever )?(?:say|said|ask|asked|tell you|told you|write|(?:first|last) (?:thing|question|message))`)

// recallSaid answers "what did I say first?", or last.
func recallSaid(c conversation) string {
	if !asksSaid.MatchString(c.ask) {
		return ""
	}
	if len(c.said) == 0 {
		return "You have not said anything before this."
	}
	if strings.Contains(strings.ToLower(c.ask), "first") {
		return fmt.Sprintf("The first thing you said was: “%s”", clip(c.said[0], 500))
	}
	return fmt.Sprintf("Before this you said: “%s”", clip(c.said[len(c.said)-1], 500))
}

var (
	asksTools  = regexp.MustCompile(`(?i)\b(?:what|which|list)\b[^.?!]*\btools\b`)
	asksSystem = regexp.MustCompile(`(?i)\byour (?:instructions|system prompt)\b`)
)

// describe tells the tools or the instructions.
func describe(c conversation) string {
	switch {
	case asksTools.MatchString(c.ask):
		return listTools(c.tools)
	case asksSystem.MatchString(c.ask) && c.system == "":
		return "I have no instructions."
	case asksSystem.MatchString(c.ask):
		return "My instructions are: " + clip(c.system, 2000)
	}
	return ""
}

func listTools(tools []ToolSpec) string {
	if len(tools) == 0 {
		return "I have no tools."
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return "My tools are: " + strings.Join(names, ", ") + "."
}

// clip keeps the first n characters of s and marks the cut.
func clip(s string, n int) string {
	runes := []rune(strings.TrimSpace(s))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n]) + "…"
}

// fingerprint tells requests apart: it makes the ids of their tool calls unique.
func fingerprint(req Request) string {
	h := fnv.New64a()
	_, _ = h.Write(req.Body) // a hash never fails
	return fmt.Sprintf("%016x", h.Sum64())
}

func specOf(tools []ToolSpec, name string) ToolSpec {
	for _, t := range tools {
		if t.Name == name {
			return t
		}
	}
	return ToolSpec{}
}
