package schedule

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/robfig/cron/v3"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Cron is a parsed five-field expression: minute, hour, day of month, month, day of week. It is comparable; equal ones are due at the
// same times.
type Cron struct {
	minute, hour, day, month, weekday uint64 // a bit for each value
	anyDay, anyWeekday                bool   // the field is *, or */1
}

// MaxCron is how long an expression may be.
const MaxCron = 256

// ParseCron reads a five-field expression, with names, ranges, lists and steps, or @yearly, @annually, @monthly, @weekly, @daily,
// @midnight, @hourly. Sunday is 0, 7 or SUN. When both day fields are set, either day counts. Everything else is refused with a
// reason: seconds and years, @every and @reboot, a zone inside, ? L W #, steps longer than their field, dates that never come.
// Faults: Invalid.
func ParseCron(text string) (Cron, error) {
	text = strings.TrimSpace(text)
	prepared, err := prepare(text)
	if err != nil {
		return Cron{}, err
	}
	parsed, err := cron.ParseStandard(prepared)
	if err != nil {
		return Cron{}, badCron(text, "%s", err)
	}
	s, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Cron{}, badCron(text, "it has no times of day")
	}
	const star, bits = uint64(1) << 63, ^(uint64(1) << 63)
	c := Cron{
		minute: s.Minute & bits, hour: s.Hour & bits, day: s.Dom & bits, month: s.Month & bits, weekday: s.Dow & bits,
		anyDay: s.Dom&star != 0, anyWeekday: s.Dow&star != 0,
	}
	if c.anyWeekday && !c.dayComes() {
		return Cron{}, badCron(text, "no month that it names has such a day")
	}
	return c, nil
}

func badCron(text, format string, args ...any) error {
	return fault.New(fault.Invalid, "cron: %q: "+format, append([]any{clip(text)}, args...)...)
}

// descriptors are the words that stand for an expression.
var descriptors = map[string]bool{
	"@yearly": true, "@annually": true, "@monthly": true, "@weekly": true, "@daily": true, "@midnight": true, "@hourly": true,
}

// prepare refuses what the parser would take in another sense, and writes Sunday as 0.
func prepare(text string) (string, error) {
	fields := strings.Fields(text)
	switch {
	case text == "":
		return "", badCron(text, "it is empty")
	case len(text) > MaxCron:
		return "", badCron(text, "%d characters, the limit is %d", len(text), MaxCron)
	case strings.HasPrefix(text, "@every"):
		return "", badCron(text, `@every is no calendar; write it with * and steps, as in "*/30 * * * *"`)
	case strings.HasPrefix(text, "@") && !descriptors[text]:
		return "", badCron(text, "of the words there are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly")
	case strings.HasPrefix(text, "@"):
		return text, nil
	case strings.Contains(fields[0], "="):
		return "", badCron(text, "a time zone stands beside the expression, not in it")
	case len(fields) != 5:
		return "", badCron(text, "five fields are due (minute, hour, day of month, month, day of week), not %d", len(fields))
	}
	for i, f := range cronFields {
		field, err := f.prepare(text, fields[i])
		if err != nil {
			return "", err
		}
		fields[i] = field
	}
	return strings.Join(fields, " "), nil
}

// cronField is what a field may hold.
type cronField struct {
	name  string
	steps int    // how many values it has
	words string // names of its values, each of three letters with a blank before it
}

var cronFields = [5]cronField{
	{"minute", 60, ""}, {"hour", 24, ""}, {"day of month", 31, ""},
	{"month", 12, " JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"}, {"day of week", 7, weekdays},
}

const weekdays = " SUN MON TUE WED THU FRI SAT"

// itemForm is a value or a range, with a step or without.
const itemForm = `^(\*|[0-9]{1,2}|[A-Za-z]{3})(?:-([0-9]{1,2}|[A-Za-z]{3}))?(?:/([0-9]{1,2}))?$`

func (f cronField) prepare(text, field string) (string, error) {
	if strings.ContainsAny(field, "?#") || regexp.MustCompile(`^(L|LW|L-\d+|\d+W|\d+L|[A-Za-z]{3}L)$`).MatchString(strings.ToUpper(field)) {
		return "", badCron(text, "%s %q: ? L W and # are not part of five-field cron", f.name, field)
	}
	var items []string
	for _, item := range strings.Split(field, ",") {
		m := regexp.MustCompile(itemForm).FindStringSubmatch(item)
		if m == nil || m[1] == "*" && m[2] != "" {
			return "", badCron(text, "%s %q: values, ranges a-b, steps /n and lists with commas are due", f.name, item)
		}
		for _, word := range []string{m[1], m[2]} {
			if !f.has(word) {
				return "", badCron(text, "%s %q: %q is no %s", f.name, item, word, f.name)
			}
		}
		if step, err := strconv.Atoi(m[3]); m[3] != "" && (err != nil || step < 1 || step >= f.steps && step > 1) {
			return "", badCron(text, "%s %q: a step is 1 to %d", f.name, item, f.steps-1)
		}
		if f.steps == 7 {
			item = sunday(item, m[1], m[2], m[3])
		}
		items = append(items, item)
	}
	return strings.Join(items, ","), nil
}

// has reports whether a word, unless it is a number or *, names a value of the field.
func (f cronField) has(word string) bool {
	if word == "" || word == "*" || word[0] >= '0' && word[0] <= '9' {
		return true
	}
	return strings.Contains(f.words+" ", " "+strings.ToUpper(word)+" ")
}

// sunday writes a Sunday that ends a week (7, or SUN at the end of a range) as 0, which is where the parser has it.
func sunday(item, from, to, step string) string {
	if from == "7" && to == "" && step == "" {
		return "0"
	}
	last := to == "7" || strings.EqualFold(to, "SUN") && from != "0" && !strings.EqualFold(from, "SUN")
	first := strings.Index(weekdays, " "+strings.ToUpper(from)) / 4
	if n, err := strconv.Atoi(from); err == nil {
		first = n
	}
	if !last || from == "*" || first < 0 || first > 7 {
		return item
	}
	stride, err := strconv.Atoi(step)
	if err != nil {
		stride = 1
	}
	var days []string
	for day := first; day <= 7; day += stride {
		days = append(days, strconv.Itoa(day%7))
	}
	return strings.Join(days, ",")
}

// longest is the most days that each month has.
var longest = [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// dayComes reports whether some month has one of the days of month.
func (c Cron) dayComes() bool {
	for month := 1; month <= 12; month++ {
		if c.month>>month&1 == 1 && c.day&(1<<(longest[month]+1)-1) != 0 {
			return true
		}
	}
	return false
}
