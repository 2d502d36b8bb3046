package agency

import (
	"strconv"
	"unicode/utf16"
)

// Dice. A text decides the throw:
//
//	text ──HashString──▶ 32 bits ──SeededRandom──▶ 0.73, 0.11, ...
//	"roll:" + seed ────────────────────────────────▶ first draw < chance ?   SeededRoll

// HashString is the 32-bit FNV-1a hash over the UTF-16 code units of text, each taken as a whole.
func HashString(text string) uint32 {
	h := uint32(2166136261)
	for _, r := range text {
		if r < 0x10000 {
			h = (h ^ uint32(r)) * 16777619
			continue
		}
		high, low := utf16.EncodeRune(r)
		h = (h ^ uint32(high)) * 16777619
		h = (h ^ uint32(low)) * 16777619
	}
	return h
}

// SeededRandom gives a stream of numbers from 0 to below 1 that the seed alone decides. It is not for secrets. The stream serves one
// goroutine.
func SeededRandom(seed string) func() float64 {
	state := HashString(seed)
	return func() float64 {
		state += 0x6D2B79F5
		t := (state ^ state>>15) * (state | 1)
		t ^= t + (t^t>>7)*(t|61)
		return float64(t^t>>14) / (1 << 32)
	}
}

// SeededRoll reports whether a throw with the given chance, 0 to 1, succeeds; the same seed always gives the same answer.
func SeededRoll(chance float64, seed string) bool {
	switch {
	case chance <= 0:
		return false
	case chance >= 1:
		return true
	}
	return SeededRandom("roll:"+seed)() < chance
}

// TaskID is the id of the task that an event calls for from an agent: the same event, agent and kind give the same id.
func TaskID(eventID, agentID, kind string) string {
	return kind + "." + base36(HashString(eventID+"|"+agentID)) + "." + base36(HashString(agentID+"|"+eventID+"|"+kind))
}

func base36(n uint32) string { return strconv.FormatUint(uint64(n), 36) }

// CooldownSlot names the gate of an agent for a kind of task, or for the slot of a cooldown, whose name may be empty.
func CooldownSlot(agentID, kind string, c *Cooldown) string {
	if c != nil {
		return agentID + "#" + c.Slot
	}
	return agentID + "#" + kind
}
