package agency

import (
	"math"
	"time"
)

// A response delay:
//
//	lever says at once ──────────────────────────────▶ immediate
//	        │ else
//	a skewed draw around the profile's median, times the lever's multiplier
//	        ├── over the cap (times the multiplier) ──▶ capped
//	        ├── over its share of the time left ──────▶ deadline
//	        └── else ─────────────────────────────────▶ sampled

// DelayProfile sizes how long an answer takes a person.
type DelayProfile struct {
	Median        time.Duration
	Cap           time.Duration // of a delay with multiplier 1
	DeadlineShare float64       // of the time left until a deadline, at most this part is waited
}

// The built-in profiles, from an answer at the keyboard to work that fits in somewhere during the day.
var (
	PromptDelay         = DelayProfile{5 * time.Second, 2 * time.Minute, 0.4}
	ConversationalDelay = DelayProfile{3 * time.Minute, 30 * time.Minute, 0.5}
	ConsideredDelay     = DelayProfile{45 * time.Minute, 8 * time.Hour, 0.5}
	RoutineDelay        = DelayProfile{90 * time.Minute, 12 * time.Hour, 0.5}
)

// ResponseDelayLever is an agent's temperament. Multiplier 0 answers at once.
type ResponseDelayLever struct {
	Multiplier      float64 `json:"multiplier"`      // of every delay
	ImmediateChance float64 `json:"immediateChance"` // 0 to 1, of answering at once
}

// DelayInput is what a delay depends on beside its profile.
type DelayInput struct {
	Seed  string // the same seed gives the same delay
	Lever ResponseDelayLever
	Now   time.Time
}

// DelayReason says what decided a delay.
type DelayReason string

// The reasons.
const (
	Immediate    DelayReason = "immediate"
	Sampled      DelayReason = "sampled"
	Capped       DelayReason = "capped"
	DeadlineNear DelayReason = "deadline"
)

// NoLimit is the limit of a delay without a deadline.
const NoLimit = time.Duration(math.MaxInt64)

// Delay is how long to wait, in whole milliseconds, and why. Limit is what the deadline alone allows, or NoLimit.
type Delay struct {
	Wait   time.Duration
	Reason DelayReason
	Limit  time.Duration
}

// ResponseDelay draws a delay. The zero deadline is none; one that has passed leaves no time at all.
func ResponseDelay(p DelayProfile, in DelayInput, deadline time.Time) Delay {
	next := SeededRandom("response-delay:" + in.Seed)
	d := Delay{Reason: Immediate, Limit: deadlineLimit(p, in.Now, deadline)}
	if roll := next(); in.Lever.Multiplier <= 0 || roll < in.Lever.ImmediateChance {
		return d
	}
	u1, u2 := next(), next()
	normal := math.Sqrt(-2*math.Log(max(u1, smallestDraw))) * math.Cos(2*math.Pi*u2)
	wait := milliseconds(p.Median) * in.Lever.Multiplier * math.Exp(normal)
	d.Reason = Sampled
	if limit := milliseconds(p.Cap) * in.Lever.Multiplier; limit < wait {
		wait, d.Reason = limit, Capped
	}
	if d.Limit != NoLimit && milliseconds(d.Limit) < wait {
		wait, d.Reason = milliseconds(d.Limit), DeadlineNear
	}
	d.Wait = time.Duration(math.Floor(min(wait, maxMilliseconds))) * time.Millisecond
	return d
}

// smallestDraw stands for a draw of 0, whose logarithm has no end.
const smallestDraw = 1.0 / (1 << 32)

const maxMilliseconds = float64(math.MaxInt64 / int64(time.Millisecond))

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// deadlineLimit is how much of the time left may pass, in whole milliseconds.
func deadlineLimit(p DelayProfile, now, deadline time.Time) time.Duration {
	if deadline.IsZero() {
		return NoLimit
	}
	left := float64(deadline.UnixMilli() - now.UnixMilli())
	return time.Duration(max(0, math.Floor(left*p.DeadlineShare))) * time.Millisecond
}
