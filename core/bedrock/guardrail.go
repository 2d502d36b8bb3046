package bedrock

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/steadfast-agents/steadfast/core/model"
)

// Guardrail names a guardrail of the account. The zero value is none.
type Guardrail struct {
	ID      string
	Version string // empty: DRAFT
	Async   bool   // show text before it was checked: faster, and what is blocked may have been seen
}

func (g Guardrail) stream() *types.GuardrailStreamConfiguration {
	if g.ID == "" {
		return nil
	}
	if g.Version == "" {
		g.Version = "DRAFT"
	}
	mode := types.GuardrailStreamProcessingModeSync
	if g.Async {
		mode = types.GuardrailStreamProcessingModeAsync
	}
	return &types.GuardrailStreamConfiguration{
		GuardrailIdentifier: &g.ID, GuardrailVersion: &g.Version, StreamProcessingMode: mode, Trace: types.GuardrailTraceEnabled,
	}
}

// assessed takes what a guardrail did, which comes after the end of the message. The service says guardrail_intervened of an answer
// that was blocked and may say it of one in which words were masked, as the guardrail is set up to: that one is an answer.
func (n *normalizer) assessed(trace *types.GuardrailTraceAssessment) {
	if !n.intervened {
		return
	}
	n.intervened = false
	reason := model.StopGuardrail
	if masked(trace) {
		reason = model.EndTurn
	}
	n.send(model.Stop{Reason: reason})
}

// masked reports whether a guardrail did no more than mask. Without a trace, or with an action that nobody knows, it did more.
func masked(trace *types.GuardrailTraceAssessment) bool {
	if trace == nil {
		return false
	}
	var did []string
	for _, a := range trace.InputAssessment {
		did = append(did, actions(a)...)
	}
	for _, list := range trace.OutputAssessments {
		for _, a := range list {
			did = append(did, actions(a)...)
		}
	}
	const mask = string(types.GuardrailSensitiveInformationPolicyActionAnonymized)
	const none = string(types.GuardrailSensitiveInformationPolicyActionNone)
	return slices.Contains(did, mask) && !slices.ContainsFunc(did, func(action string) bool { return action != mask && action != none })
}

// actions are what the policies of a guardrail did.
func actions(a types.GuardrailAssessment) (all []string) {
	if p := a.ContentPolicy; p != nil {
		for _, f := range p.Filters {
			all = append(all, string(f.Action))
		}
	}
	if p := a.TopicPolicy; p != nil {
		for _, t := range p.Topics {
			all = append(all, string(t.Action))
		}
	}
	if p := a.WordPolicy; p != nil {
		for _, w := range p.CustomWords {
			all = append(all, string(w.Action))
		}
		for _, w := range p.ManagedWordLists {
			all = append(all, string(w.Action))
		}
	}
	if p := a.ContextualGroundingPolicy; p != nil {
		for _, f := range p.Filters {
			all = append(all, string(f.Action))
		}
	}
	if p := a.SensitiveInformationPolicy; p != nil {
		for _, e := range p.PiiEntities {
			all = append(all, string(e.Action))
		}
		for _, r := range p.Regexes {
			all = append(all, string(r.Action))
		}
	}
	return all
}
