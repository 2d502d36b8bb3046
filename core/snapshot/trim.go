package snapshot

import "github.com/steadfast-agents/steadfast/core/model"

// Limits bound a history. A zero limit is none.
type Limits struct {
	Messages   int  // at most so many messages
	Bytes      int  // at most so many bytes, as Size counts them
	KeepPrompt bool // the first user message stays, as in a task
}

// leftOut is what the user says first in a history whose beginning is gone.
const leftOut = "(earlier messages were left out)"

// Trim drops the oldest messages until the rest is within limits. What it returns is a sound history (see Repair): it
// starts with the user, roles alternate, every call has its result and every result its call. As little as possible is
// dropped.
//
// Without KeepPrompt a cut falls before a question or, within a run of tool calls, before a call, and a note then
// speaks for the user. With it a cut falls before an answer, which then follows the prompt. What comes after the last
// such place always stays, though it alone may be over the limits. Idempotent; linear.
func Trim(messages []model.Message, limits Limits) []model.Message {
	_, kept := Cut(messages, limits)
	return kept
}

// Cut is Trim that also gives the messages left out, oldest first, for a summary. The prompt that stays is not among
// them.
func Cut(messages []model.Message, limits Limits) (dropped, kept []model.Message) {
	messages, _ = model.Repair(messages)
	if len(messages) == 0 || limits.hold(len(messages), Size(messages...)) {
		return nil, messages
	}
	lead := model.Text(model.User, leftOut)
	start := 0
	if limits.KeepPrompt {
		lead, start = messages[0], 1
	}
	at := limits.cut(messages, Size(lead))
	if at <= start {
		return nil, messages
	}
	dropped, kept = messages[start:at:at], messages[at:]
	if kept[0].Role == model.Assistant {
		kept = append([]model.Message{lead}, kept...)
	}
	return dropped, kept
}

func (l Limits) hold(messages, bytes int) bool {
	return (l.Messages <= 0 || messages <= l.Messages) && (l.Bytes <= 0 || bytes <= l.Bytes)
}

// cut finds the first place from which the messages are within the limits, or the last possible one, or 0 if there is
// none. lead is the size of the message put before a cut at an answer.
func (l Limits) cut(messages []model.Message, lead int) int {
	at, size := 0, 0
	for i := len(messages) - 1; i > 0; i-- {
		size += Size(messages[i])
		if !l.cutsAt(messages[i]) {
			continue
		}
		count, total := len(messages)-i, size
		if messages[i].Role == model.Assistant {
			count, total = count+1, total+lead
		}
		if at == 0 || l.hold(count, total) {
			at = i
		}
	}
	return at
}

// cutsAt reports whether history may start over at m. With a prompt to keep, every answer may follow it; without one,
// history starts at a question, or within a run of calls.
func (l Limits) cutsAt(m model.Message) bool {
	if l.KeepPrompt {
		return m.Role == model.Assistant
	}
	if m.Role == model.Assistant {
		return len(m.Calls()) > 0
	}
	return len(m.Results()) == 0
}
