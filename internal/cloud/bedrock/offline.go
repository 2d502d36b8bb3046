package bedrock

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"
)

// DefaultDelay is the offline model's pause before each token when the Server made it.
const DefaultDelay = 15 * time.Millisecond

// Offline is the offline model: no network, no randomness. The same request always gets the same answer, token by
// token, made from the request alone. It does not think and says so; what it does is what an application around a
// model needs to be seen working:
//
//   - It calls tools it is told to: `call NAME`, `call NAME with {json}`, `call A and B` (both in one reply), `call NAME 3
//     times`, `call A then call B` (B after A's result), `keep calling NAME` (without end). Without JSON the input is the
//     smallest that fits the schema. Asked for the time, it calls a time tool if there is one; asked "remind me in 1m to
//     stretch", remind_me. A forced tool choice is obeyed. With the results in hand it tells them.
//   - It remembers what the request holds: "what did I say first?" (or last), "what is my name?" after "my name is Ada".
//   - It tells its tools ("what tools do you have?") and instructions ("what are your instructions?").
//   - It does as told: `say N words`, `say "text"`, `slow N ms` (each token), `think aloud` and `think secretly` (signed or
//     opaque reasoning first; both must come back unchanged), `fail TYPE` (an exception instead of an answer),
//     `break TYPE after N` and `cut after N` (an exception, or just the end of the stream, after N tokens); with `once`
//     the next attempt of the same request goes well.
//   - Under a guardrail, whichever, it answers no request in which `words the guardrail blocks` stands, anywhere in its messages.
//   - It answers with the smallest object that fits where its text must fit a schema, unless it is told what to say.
//   - Anything else it answers with what it is and what it was asked.
//
// maxTokens (stop reason max_tokens, also in the middle of a tool's input) and stopSequences are honoured. Only the
// newest user message instructs it; text in <tags>, where an application puts context, is read but never obeyed.
type Offline struct {
	Delay    time.Duration // before each token
	Attempts *Attempts     // what `once` needs to remember; nil: every attempt fails
}

// Respond answers req.
func (o Offline) Respond(ctx context.Context, req Request) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		if e := checkSigned(req); e != nil {
			yield(nil, e)
			return
		}
		if req.Guardrail.ID != "" && bytes.Contains(bytes.ToLower(req.messages()), []byte(forbidden)) {
			_ = yield(Text("Sorry, the model cannot answer this question."), nil) && yield(Stop("guardrail_intervened"), nil)
			return
		}
		c := read(req)
		d := parse(c.ask, c.tools)
		if d.fault.once && !o.Attempts.first(c.id) {
			d.fault = fault{}
		}
		p := plan(c, d)
		delay := o.Delay
		if d.slow >= 0 {
			delay = d.slow
		}
		out := &speech{ctx: ctx, yield: yield, delay: delay, limit: limit(req), fault: d.fault, stops: req.Inference.StopSequences}
		out.speak(p)
	}
}

// forbidden is what every guardrail blocks.
const forbidden = "words the guardrail blocks"

// messages are the request's messages as they came.
func (r Request) messages() []byte {
	var body struct {
		Messages json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(r.Body, &body) != nil {
		return nil
	}
	return body.Messages
}

// limit is the request's maxTokens; the service's own default when it has none.
func limit(req Request) int {
	if req.Inference.MaxTokens != nil {
		return *req.Inference.MaxTokens
	}
	return 4096
}

// answer is what the model will say, before it is cut into tokens.
type answer struct {
	thought string
	secret  bool // the thought is opaque
	text    string
	calls   []plannedCall
}

// plannedCall is a tool call of an answer.
type plannedCall struct{ id, name, input string }

// speech sends an answer token by token, within limits.
type speech struct {
	ctx    context.Context
	yield  func(Part, error) bool
	delay  time.Duration
	limit  int
	spoken int
	fault  fault
	stops  []string
	over   bool // nothing more may be sent
}

func (s *speech) speak(a answer) {
	if s.fault.after == 0 && s.fault.set {
		s.breakOff()
		return
	}
	s.think(a)
	text, stopped := cutAt(a.text, s.stops)
	s.tokens(text, func(t string) Part { return Text(t) })
	if stopped {
		s.send(Stop("stop_sequence"))
		s.over = true
	}
	for _, call := range a.calls {
		s.send(ToolCall{ID: call.id, Name: call.name})
		s.tokens(call.input, func(t string) Part { return ToolInput(t) })
	}
	if s.fault.set && !s.over {
		s.breakOff()
	}
}

func (s *speech) think(a answer) {
	switch {
	case a.thought == "":
	case a.secret:
		s.send(Reasoning{Redacted: seal(a.thought)})
	default:
		s.tokens(a.thought, func(t string) Part { return Reasoning{Text: t} })
		s.send(Reasoning{Signature: sign(a.thought)})
	}
}

// tokens sends text token by token, until a limit is reached.
func (s *speech) tokens(text string, as func(string) Part) {
	for _, t := range tokenize(text) {
		switch {
		case s.over:
			return
		case s.fault.set && s.spoken >= s.fault.after:
			s.breakOff()
			return
		case s.spoken >= s.limit:
			s.send(Stop("max_tokens"))
			s.over = true
			return
		}
		if err := pause(s.ctx, s.delay); err != nil {
			s.end(err)
			return
		}
		s.spoken++
		s.send(as(t))
	}
}

func (s *speech) send(p Part) {
	if !s.over && !s.yield(p, nil) {
		s.over = true
	}
}

// breakOff ends the answer with the fault that was asked for.
func (s *speech) breakOff() {
	if s.fault.exception == "" {
		s.send(Hangup{})
		s.over = true
		return
	}
	s.end(&Error{Type: s.fault.exception, Message: "The offline model was told to fail."})
}

func (s *speech) end(err error) {
	if !s.over {
		s.over = true
		s.yield(nil, err)
	}
}

// cutAt ends text before the first stop sequence in it.
func cutAt(text string, stops []string) (string, bool) {
	cut := len(text)
	for _, stop := range stops {
		if i := strings.Index(text, stop); i >= 0 && i < cut {
			cut = i
		}
	}
	return text[:cut], cut < len(text)
}

// tokenize cuts text into pieces of at most 12 bytes: words with the space before them, never inside a character.
func tokenize(text string) []string {
	var tokens []string
	start := 0
	for i, r := range text {
		if i > start && (r == ' ' || r == '\n' || i-start >= 8) {
			tokens = append(tokens, text[start:i])
			start = i
		}
	}
	if start < len(text) {
		tokens = append(tokens, text[start:])
	}
	return tokens
}
