package boot_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/steadfast-agents/steadfast/core/boot"
)

func TestTuneMemory(t *testing.T) {
	tests := []struct {
		name string
		vars map[string]string
		want int64 // limit in MB; 0: unchanged
	}{
		{"a function of 512 MB", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512"}, 384},
		{"outside of Lambda", nil, 0},
		{"not a number", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "much"}, 0},
		{"the user's own percentage", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "GOGC": "100"}, 0},
		{"the user's own limit", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "GOMEMLIMIT": "100MiB"}, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			percent := debug.SetGCPercent(100)
			defer debug.SetGCPercent(percent)
			limit := debug.SetMemoryLimit(math.MaxInt64)
			defer debug.SetMemoryLimit(limit)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
			for _, name := range []string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "GOGC", "GOMEMLIMIT"} {
				t.Setenv(name, tc.vars[name])
			}
			boot.Tune()
			wantLimit, wantPercent := tc.want<<20, 400
			if tc.want == 0 {
				wantLimit, wantPercent = math.MaxInt64, 100
			}
			if gotLimit, gotPercent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100); gotLimit != wantLimit || gotPercent != wantPercent {
				t.Errorf("limit %d, percentage %d, want %d and %d", gotLimit, gotPercent, wantLimit, wantPercent)
			}
		})
	}
}

// TestTuneShare: one thread for less than a processor, what there is for more, and what the environment says before both.
func TestTuneShare(t *testing.T) {
	tests := []struct {
		mb, procs string
		want      int
	}{{"128", "", 1}, {"1768", "", 1}, {"1769", "", 3}, {"10240", "", 3}, {"", "", 3}, {"512", "3", 3}}
	for _, tc := range tests {
		was := runtime.GOMAXPROCS(3)
		limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
		t.Setenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", tc.mb)
		t.Setenv("GOMAXPROCS", tc.procs)
		boot.Tune()
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
		if got := runtime.GOMAXPROCS(was); got != tc.want {
			t.Errorf("in %q MB with GOMAXPROCS=%q: %d threads, want %d", tc.mb, tc.procs, got, tc.want)
		}
	}
}
