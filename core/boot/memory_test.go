package boot_test

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/steadfast-agents/steadfast/core/boot"
)

func TestUseMemory(t *testing.T) {
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
			for _, name := range []string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "GOGC", "GOMEMLIMIT"} {
				t.Setenv(name, tc.vars[name])
			}
			boot.UseMemory()
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
