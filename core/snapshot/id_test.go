package snapshot_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/steadfast-agents/steadfast/core/snapshot"
)

func TestNextID(t *testing.T) {
	now := time.UnixMilli(1796041878371)
	random := [16]byte{0: 1, 6: 0xff, 7: 2, 8: 0xff, 15: 3}
	const first = "01a22c70-2b63-7f02-bf00-000000000003"
	tests := []struct {
		name, base, want string
		now              time.Time
	}{
		{"no base", "", first, now},
		{"another writer's id", "latest", first, now},
		{"a random UUID", "ffffffff-ffff-4fff-bfff-ffffffffffff", first, now},
		{"an earlier base", "01a22c70-2b62-7f02-bf00-000000000003", first, now},
		{"the base of the same millisecond", first, "01a22c70-2b64-7f02-bf00-000000000003", now},
		{"a clock that is slow", first, "01a22c70-2b64-7f02-bf00-000000000003", now.Add(-time.Hour)},
		{"before 1970", "", "00000000-0000-7f02-bf00-000000000003", time.UnixMilli(-5)},
		{"past the last time", "", "ffffffff-ffff-7f02-bf00-000000000003", time.UnixMilli(1 << 50)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := snapshot.NextID(tt.now, tt.base, random); got != tt.want {
				t.Errorf("NextID(%v, %q) = %q, want %q", tt.now, tt.base, got, tt.want)
			}
		})
	}
	if at, ok := snapshot.Time(first); !ok || !at.Equal(now) {
		t.Errorf("Time(%s) = %v, %v, want %v", first, at, ok, now)
	}
	for _, id := range []string{"", "latest", "01a22c70-2b63-4f02-bf00-000000000003", "01a22c70-2b63-7f02-0f00-000000000003", "01a22c70_2b63-7f02-bf00-000000000003", "0ia22c70-2b63-7f02-bf00-000000000003"} {
		if at, ok := snapshot.Time(id); ok {
			t.Errorf("Time(%q) = %v, want none", id, at)
		}
	}
}

func TestIDsSortAfterTheirBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ""
		for range 20 {
			now := time.UnixMilli(rapid.Int64Range(0, 1<<41).Draw(t, "now"))
			random := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "random"))
			next := snapshot.NextID(now, id, random)
			if parsed, err := uuid.Parse(next); err != nil || parsed.Version() != 7 || parsed.Variant() != uuid.RFC4122 || parsed.String() != next {
				t.Fatalf("NextID = %q, not the text of a UUIDv7: %v", next, err)
			}
			if next <= id {
				t.Fatalf("NextID(%v, %q) = %q, does not sort after its base", now, id, next)
			}
			if at, ok := snapshot.Time(next); !ok || at.Before(now) {
				t.Fatalf("Time(%q) = %v, %v, want %v or later", next, at, ok, now)
			}
			id = next
		}
	})
}
