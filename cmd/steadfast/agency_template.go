package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
)

type agencyTemplate struct {
	Type string `arg:"" optional:"" help:"One agent type; all that are hosted when not given."`
}

// Run implements the command.
func (t agencyTemplate) Run(_ *cli, s *surroundings) error {
	hosted, err := dry(nil, time.Now)
	if err != nil {
		return err
	}
	if t.Type != "" {
		a, err := hosted.Type(t.Type)
		if err != nil {
			return err
		}
		hosted = agency.Hosted{a}
	}
	var wirings []agency.Wiring
	var text strings.Builder
	for _, a := range hosted {
		wirings = append(wirings, a.Wiring())
		text.WriteString(templateOf(a.Wiring()))
	}
	return s.answer(wirings, "%s", strings.TrimRight(text.String(), "\n"))
}

// plainYAML is what needs no quotes in a list, unless it is one of the words that YAML has for other things.
var (
	plainYAML = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 ./_-]*$`)
	wordYAML  = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)
)

// yamlList writes texts as a list, in quotes where they need some.
func yamlList(texts ...string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		if all[i] = text; !plainYAML.MatchString(text) || wordYAML.MatchString(text) {
			all[i] = strconv.Quote(text)
		}
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// templateOf is what template.yaml needs for a type: events of four functions.
func templateOf(w agency.Wiring) string {
	var b strings.Builder
	rule := func(function, name string, pattern ...string) {
		fmt.Fprintf(&b, "# Under Events of %s:\n        %s%s:\n          Type: EventBridgeRule\n          Properties:\n            EventBusName: !Ref EventBusName\n            Pattern:\n", function, camel(w.Name), name)
		for _, line := range pattern {
			fmt.Fprintf(&b, "              %s\n", line)
		}
		b.WriteString("            RetryPolicy: {MaximumRetryAttempts: 24, MaximumEventAgeInSeconds: 7200}\n            DeadLetterConfig: {Arn: !GetAtt EventDeadLetters.Arn}\n")
	}
	types := w.DetailTypes
	if w.CheckIns != nil {
		types = append(types, agency.CheckInDetailType)
	}
	if w.Sources == nil {
		rule("AgencyRouteFunction", "Events", "detail-type: "+yamlList(types...))
	} else {
		rule("AgencyRouteFunction", "Events", "source: "+yamlList(append(w.Sources, w.Source)...), "detail-type: "+yamlList(types...))
	}
	own := "source: " + yamlList(w.Source)
	rule("AgencyTaskFunction", "Tasks", own, "detail-type: "+yamlList(contract.RunAgentTask))
	rule("ScheduleEventFunction", "Delays", own, "detail-type: "+yamlList(agency.ScheduleEvent))
	if w.CheckIns == nil {
		return b.String()
	}
	for i, cron := range w.CheckIns.Crons() {
		name := "CheckIns"
		if i > 0 {
			name = fmt.Sprint("CheckIns", i+1)
		}
		fmt.Fprintf(&b, `# Under Events of AgencyCheckInFunction:
        %s%s:
          Type: ScheduleV2
          Properties:
            ScheduleExpression: %s
            ScheduleExpressionTimezone: %s
            Input: '{"agentType":%q}'
            OmitName: true
            RetryPolicy: {MaximumRetryAttempts: 24, MaximumEventAgeInSeconds: 7200}
            DeadLetterConfig: {Arn: !GetAtt EventDeadLetters.Arn}
`, camel(w.Name), name, cron, w.CheckIns.TimeZone, w.Name)
	}
	return b.String()
}

// camel makes a logical id of a name.
func camel(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			up = true
			continue
		case up:
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
		up = false
	}
	return b.String()
}
