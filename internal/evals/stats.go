package evals

import (
	"encoding/json"
	"math"
	"strconv"
)

// Stat is what was measured over some runs. Without any, N is 0 and nothing else counts.
type Stat struct {
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"stddev"` // of a sample: divided by n-1; 0 for one run
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
}

// MarshalJSON writes null for what no run has: a zero would be a measurement.
func (s Stat) MarshalJSON() ([]byte, error) {
	type plain Stat
	if s.N == 0 {
		return []byte(`{"mean":null,"stddev":null,"min":null,"max":null,"n":0}`), nil
	}
	return json.Marshal(plain(s))
}

// Measure computes the statistics of values, rounded to four places.
func Measure(values []float64) Stat {
	s := Stat{N: len(values)}
	if s.N == 0 {
		return s
	}
	s.Min, s.Max = values[0], values[0]
	for _, v := range values {
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	}
	mean := mean(values)
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	if s.N > 1 {
		s.StdDev = round(math.Sqrt(squares / float64(s.N-1)))
	}
	s.Mean, s.Min, s.Max = round(mean), round(s.Min), round(s.Max)
	return s
}

// mean gives the mean of at least one value.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// difference gives how much larger the mean of a is than that of b, from the values as they are; nil if one of them has none.
func difference(a, b []float64) *float64 {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	return new(round(mean(a) - mean(b)))
}

// Number writes a value for people: whole from a thousand on, else with four digits that count.
func Number(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// round rounds to four places.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }
