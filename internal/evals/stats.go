package evals

import "math"

// Stat is what was measured over some runs. Mean and StdDev are 0 without any.
type Stat struct {
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"stddev"` // of a sample: divided by n-1; 0 for one run
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
}

// Measure computes the statistics of values, rounded to four places.
func Measure(values []float64) Stat {
	s := Stat{N: len(values)}
	if s.N == 0 {
		return s
	}
	s.Min, s.Max = values[0], values[0]
	sum := 0.0
	for _, v := range values {
		sum += v
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	}
	mean := sum / float64(s.N)
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

// round rounds to four places.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }
