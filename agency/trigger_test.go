package agency_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
	"github.com/steadfast-agents/steadfast/core/contract"
)

// scripted is an error a file asks for. It has what an SDK's errors have.
type scripted struct {
	Name, Message, Code string
	Retryable           any `json:"$retryable"`
	StatusCode          any `json:"statusCode"`
	bare                string
	HTTPStatus          any             `json:"httpStatusCode"`
	Marked              bool            `json:"retryable"`
	Metadata            *scriptedStatus `json:"$metadata"`
}

type scriptedStatus struct{ HTTPStatusCode int }

func (e *scripted) Error() string { return e.Message }

// ErrorCode is the code, or the name.
func (e *scripted) ErrorCode() string { return cmp.Or(e.Code, e.Name) }

func (e *scripted) HTTPStatusCode() int {
	if e.Metadata != nil {
		return e.Metadata.HTTPStatusCode
	}
	n, _ := e.StatusCode.(float64)
	if m, ok := e.HTTPStatus.(float64); ok {
		n = m
	}
	return int(n)
}

func (e *scripted) RetryableError() bool {
	return e.Marked || e.Retryable != nil && e.Retryable != false
}

// ruleData is a rule as the files give it.
type ruleData struct {
	Kind         string
	Agents       json.RawMessage
	Urgent       bool
	OncePerField *string
	Cooldown     *struct {
		Slot, MsField string
		Ms            float64
	}
	SharedCooldown *struct {
		Field string
		Ms    float64
	}
	Admit         map[string]string
	PayloadFields []string
	Delay         *struct {
		Profile        json.RawMessage
		DeadlineField  string
		BaseMs, StepMs float64
	}
}

// rule makes it a rule of this package.
func (r ruleData) rule(t *testing.T, detailType string) agency.Rule {
	return agency.On(detailType, r.Kind, func(_ context.Context, e agency.Event[map[string]any]) (agency.Wake, error) {
		w := agency.Wake{Agents: r.agents(t, e.Detail), Urgent: r.Urgent, Payload: r.payload(e.Detail), Cooldown: r.cooldown(e.Detail), Delay: r.delay(t, e.Detail)}
		w.For = func(agentID string, each *agency.Each) {
			each.Request = fmt.Sprintf("%s for %s (%s)", r.Kind, agentID, e.ID)
		}
		if r.OncePerField != nil {
			if v, there := e.Detail[*r.OncePerField]; there {
				w.OncePer = new(fmt.Sprint(v))
			}
		}
		if c := r.SharedCooldown; c != nil {
			if v, there := e.Detail[c.Field]; there {
				w.SharedCooldown = &agency.Cooldown{Slot: fmt.Sprint(v), Window: ms(c.Ms)}
			}
		}
		if r.Admit != nil {
			w.Admit = func(_ context.Context, agentID string) (bool, string, error) {
				reason, declined := r.Admit[agentID]
				return !declined, reason, nil
			}
		}
		return w, nil
	})
}

func (r ruleData) agents(t *testing.T, detail map[string]any) []string {
	if len(r.Agents) > 0 && r.Agents[0] == '[' {
		return read[[]string](t, r.Agents)
	}
	list, _ := detail[read[struct{ Field string }](t, r.Agents).Field].([]any)
	var all []string
	for _, a := range list {
		all = append(all, a.(string))
	}
	return all
}

func (r ruleData) payload(detail map[string]any) any {
	if r.PayloadFields == nil {
		return nil
	}
	p := object{}
	for _, f := range r.PayloadFields {
		if v, there := detail[f]; there {
			p[f] = v
		}
	}
	return p
}

func (r ruleData) cooldown(detail map[string]any) *agency.Cooldown {
	if r.Cooldown == nil {
		return nil
	}
	window := r.Cooldown.Ms
	if r.Cooldown.MsField != "" {
		window = detail[r.Cooldown.MsField].(float64)
	}
	return &agency.Cooldown{Slot: r.Cooldown.Slot, Window: ms(window)}
}

func (r ruleData) delay(t *testing.T, detail map[string]any) agency.Delayer {
	switch d := r.Delay; {
	case d == nil:
		return nil
	case d.Profile != nil:
		text, _ := detail[d.DeadlineField].(string)
		return agency.HumanDelay(profileOf(t, d.Profile), agency.ReadDeadline(text))
	default:
		return agency.DelayFunc(func(x agency.Delayed) time.Duration { return ms(d.BaseMs + float64(x.Index)*d.StepMs) })
	}
}

func rulesOf(t *testing.T, data map[string][]ruleData) []agency.Rule {
	var all []agency.Rule
	for detailType, rules := range data {
		for _, r := range rules {
			all = append(all, r.rule(t, detailType))
		}
	}
	return all
}

// pacingData is a pacing as the files give it.
type pacingData struct {
	CooldownMs    float64
	ResponseDelay *agency.ResponseDelayLever
}

func (p pacingData) pacing() agency.Pacing {
	return agency.Pacing{Cooldown: ms(p.CooldownMs), ResponseDelay: p.ResponseDelay}
}

// sentTask is a dispatch in the form of the files.
func sentTask(t agency.AgentTask) object {
	return object{
		"taskId": t.TaskID, "agentId": t.AgentID, "principal": t.Principal, "request": t.Request, "trigger": t.Trigger,
		"delayMs": t.Delay.Milliseconds(), "runAt": contract.At(t.RunAt),
	}
}

// notes is a log that keeps messages.
type notes struct {
	slog.Handler
	said *[]string
}

func (n notes) WithAttrs([]slog.Attr) slog.Handler       { return n }
func (n notes) Enabled(context.Context, slog.Level) bool { return true }
func (n notes) Handle(_ context.Context, r slog.Record) error {
	*n.said = append(*n.said, r.Message)
	return nil
}

// passed gives gates in the form of the files.
func passed(all map[string]agency.Passed) []object {
	list := []object{}
	for slot, p := range all {
		list = append(list, object{"slot": slot, "owner": p.Owner, "lastTriggeredAt": contract.At(p.At)})
	}
	slices.SortFunc(list, func(a, b object) int { return cmp.Compare(a["slot"].(string), b["slot"].(string)) })
	return list
}
