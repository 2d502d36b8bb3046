package evals

// Attempt is one run of one query.
type Attempt struct {
	Query     string `json:"query"`
	Run       int    `json:"run"`
	Triggered bool   `json:"triggered"`
	Error     string `json:"error,omitempty"` // it failed, and says nothing about the description
}

// Row is what the runs of a query came to.
type Row struct {
	Query         string   `json:"query"`
	ShouldTrigger bool     `json:"should_trigger"`
	Triggers      int      `json:"triggers"`
	Runs          int      `json:"runs"`         // that ended without an error
	TriggerRate   *float64 `json:"trigger_rate"` // triggers/runs; nil without runs
	Errored       int      `json:"errored"`
	Pass          bool     `json:"pass"`
}

// TriggerSummary counts queries, and runs over all of them.
type TriggerSummary struct {
	Total     int      `json:"total"`
	Passed    int      `json:"passed"`
	Failed    int      `json:"failed"`
	Undecided int      `json:"undecided"` // queries all of whose runs failed
	PassRate  *float64 `json:"pass_rate"` // of those that were decided; nil without any
	Errored   int      `json:"errored"`   // runs
	Precision float64  `json:"precision"` // of runs; 1 when nothing triggered
	Recall    float64  `json:"recall"`    // 1 when nothing should have
	Accuracy  *float64 `json:"accuracy"`  // nil when no run ended well
}

// TriggerResult is one set, measured with one description.
type TriggerResult struct {
	SkillName   string         `json:"skill_name"`
	Description string         `json:"description"`
	Set         string         `json:"set"`
	Seed        uint64         `json:"seed"`
	Model       string         `json:"model"`
	Threshold   float64        `json:"threshold"`
	Inclusive   bool           `json:"inclusive,omitempty"` // a rate at the threshold triggers
	Results     []Row          `json:"results"`
	Summary     TriggerSummary `json:"summary"`
}

// DefaultThreshold is the rate above which a query triggers.
const DefaultThreshold = 0.5

// Score computes rows and summary from the attempts, in the order of the queries.
func (t *TriggerResult) Score(queries []Query, attempts []Attempt) {
	var tp, fp, tn, fn int
	t.Results, t.Summary = []Row{}, TriggerSummary{Total: len(queries)}
	for _, q := range queries {
		row := Row{Query: q.Query, ShouldTrigger: q.ShouldTrigger}
		for _, a := range attempts {
			switch {
			case a.Query != q.Query:
			case a.Error != "":
				row.Errored++
			default:
				row.Runs++
				if a.Triggered {
					row.Triggers++
				}
			}
		}
		t.judge(&row)
		t.Results = append(t.Results, row)
		if q.ShouldTrigger {
			tp, fn = tp+row.Triggers, fn+row.Runs-row.Triggers
		} else {
			fp, tn = fp+row.Triggers, tn+row.Runs-row.Triggers
		}
	}
	s := &t.Summary
	s.Failed = s.Total - s.Passed - s.Undecided
	s.PassRate, s.Accuracy = ratio(s.Passed, s.Passed+s.Failed), ratio(tp+tn, tp+fp+tn+fn)
	s.Precision, s.Recall = orOne(ratio(tp, tp+fp)), orOne(ratio(tp, tp+fn))
}

// judge decides a row: above the threshold for what should trigger, below it for what should not; at the threshold both fail,
// unless it is inclusive.
func (t *TriggerResult) judge(row *Row) {
	t.Summary.Errored += row.Errored
	if row.Runs == 0 {
		t.Summary.Undecided++
		return
	}
	rate := float64(row.Triggers) / float64(row.Runs)
	row.TriggerRate = new(round(rate))
	if row.ShouldTrigger {
		row.Pass = rate > t.Threshold || t.Inclusive && rate == t.Threshold
	} else {
		row.Pass = rate < t.Threshold
	}
	if row.Pass {
		t.Summary.Passed++
	}
}

// ratio is nil for a part of nothing.
func ratio(a, b int) *float64 {
	if b == 0 {
		return nil
	}
	return new(round(float64(a) / float64(b)))
}

func orOne(v *float64) float64 {
	if v == nil {
		return 1
	}
	return *v
}
