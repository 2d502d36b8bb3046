package schedule

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// delayForm is a number of seconds, or days, hours, minutes and seconds in this order, each at most once.
const delayForm = `^(?:(\d{1,9})|(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?)$`

// ParseDelay reads a delay: 90s, 15m, 2h, 3d, combined in this order (1h30m), or a bare number of seconds. 0 is now. At most
// MaxAhead. Faults: Invalid.
func ParseDelay(text string) (time.Duration, error) {
	compact := strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	m := regexp.MustCompile(delayForm).FindStringSubmatch(compact)
	if m == nil || compact == "" {
		return 0, fault.New(fault.Invalid, "delay: %q is no delay; write 90s, 15m, 2h, 3d, 1h30m or a number of seconds", clip(text))
	}
	total := time.Duration(0)
	for i, unit := range []time.Duration{time.Second, 24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if m[i+1] == "" {
			continue
		}
		n, err := strconv.Atoi(m[i+1])
		if err != nil || time.Duration(n) > MaxAhead/unit {
			return 0, tooFar("delay", text)
		}
		total += time.Duration(n) * unit
	}
	if total > MaxAhead {
		return 0, tooFar("delay", text)
	}
	return total, nil
}

func tooFar(field, text string) error {
	return fault.New(fault.Invalid, "%s: %q is more than a year ahead", field, clip(text))
}
