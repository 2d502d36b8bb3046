package money

import (
	"bytes"
	_ "embed" // the table of prices
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
)

// Price is what a model costs, in US dollars for a million tokens. A cache is priced as plain input if its price is absent.
type Price struct {
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  *float64 `json:"cacheRead,omitempty"`
	CacheWrite *float64 `json:"cacheWrite,omitempty"`
	Regional   float64  `json:"regional,omitempty"` // factor for ids of a geographic profile (us., eu., apac., ...); 0 means 1
}

// Cost is what the tokens cost.
func (p Price) Cost(u model.Usage) Amount {
	million := float64(u.InputTokens)*p.Input + float64(u.OutputTokens)*p.Output +
		float64(u.CacheReadTokens)*or(p.CacheRead, p.Input) + float64(u.CacheWriteTokens)*or(p.CacheWrite, p.Input)
	return Dollars(million / 1e6)
}

// Ceiling is the most that a call with that many bytes of input and that limit of output tokens is expected to cost. It takes a
// token for two bytes and the dearest kind of input, so it lies above the true cost of any text but the strangest.
func (p Price) Ceiling(inputBytes, maxTokens int) Amount {
	input := max(p.Input, or(p.CacheRead, 0), or(p.CacheWrite, 0))
	return Dollars((float64(inputBytes/2+1)*input + float64(maxTokens)*p.Output) / 1e6)
}

func or(v *float64, otherwise float64) float64 {
	if v == nil {
		return otherwise
	}
	return *v
}

// Prices are prices by model id: a whole id, or the beginning of one up to a '-', ':' or '.'. The longest that fits counts, with the
// geographic prefix of an inference profile before without it.
type Prices map[string]Price

//go:embed prices.json
var listed []byte

// Default gives the list prices that come with the product. They change: override them by a file for bills.
func Default() Prices {
	p, err := Parse(listed)
	if err != nil {
		panic(err) // the file is part of the binary and tested
	}
	return p
}

// Parse reads a table of prices: a JSON object of model id to {input, output, cacheRead, cacheWrite, regional}. Faults: Invalid,
// naming each entry that is wrong.
func Parse(data []byte) (Prices, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var p Prices
	if err := d.Decode(&p); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "prices: want {\"model id\": {\"input\": dollars, \"output\": dollars, ...}} for a million tokens")
	}
	var wrong []string
	for _, id := range slices.Sorted(maps.Keys(p)) {
		if field := p[id].wrong(); field != "" {
			wrong = append(wrong, fmt.Sprintf("%s.%s", id, field))
		}
	}
	if len(wrong) > 0 {
		return nil, fault.New(fault.Invalid, "prices: %s: want dollars for a million tokens, from 0 to 100000", strings.Join(wrong, ", "))
	}
	return p, nil
}

func (p Price) wrong() (field string) {
	for _, f := range []struct {
		name  string
		value float64
	}{{"input", p.Input}, {"output", p.Output}, {"cacheRead", or(p.CacheRead, 0)}, {"cacheWrite", or(p.CacheWrite, 0)}, {"regional", p.Regional}} {
		if f.value < 0 || f.value > 1e5 || math.IsNaN(f.value) {
			return f.name
		}
	}
	return ""
}

// With gives the prices with first's in front: where both have a price, first's counts.
func (p Prices) With(first Prices) Prices {
	all := maps.Clone(p)
	if all == nil {
		all = Prices{}
	}
	maps.Copy(all, first)
	return all
}

// regions are the geographic prefixes of inference profiles; global. is none, it costs what the model costs.
var regions = []string{"us.", "eu.", "apac.", "jp.", "au.", "ca.", "us-gov."}

// Of finds the price of a model by its id or the ARN of a model or a system-defined profile; ok is false if it is not known.
func (p Prices) Of(modelID string) (price Price, ok bool) {
	id := modelID[strings.LastIndexByte(modelID, '/')+1:]
	if price, ok = p.find(id); ok {
		return price, true
	}
	bare, factor := strings.TrimPrefix(id, "global."), 1.0
	for _, r := range regions {
		if rest, found := strings.CutPrefix(id, r); found {
			bare, factor = rest, 0
		}
	}
	if price, ok = p.find(bare); !ok {
		return Price{}, false
	}
	if factor == 0 && price.Regional != 0 {
		price = price.times(price.Regional)
	}
	price.Regional = 0
	return price, true
}

func (p Prices) find(id string) (best Price, ok bool) {
	longest := ""
	for name := range p {
		rest, fits := strings.CutPrefix(id, name)
		if fits && len(name) > len(longest) && (rest == "" || strings.ContainsRune("-:.", rune(rest[0]))) {
			longest = name
		}
	}
	best, ok = p[longest]
	return best, ok && longest != ""
}

func (p Price) times(factor float64) Price {
	scaled := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		return new(*v * factor)
	}
	return Price{Input: p.Input * factor, Output: p.Output * factor, CacheRead: scaled(p.CacheRead), CacheWrite: scaled(p.CacheWrite)}
}

// Cost prices usage by a model's id; ok is false if the model has no price.
func (p Prices) Cost(modelID string, u model.Usage) (cost Amount, ok bool) {
	price, ok := p.Of(modelID)
	if !ok {
		return 0, false
	}
	return price.Cost(u), true
}
