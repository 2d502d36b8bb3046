package transcript_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/transcript"
)

func TestTranscript(t *testing.T) {
	var all transcript.Transcript
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for range 100 {
				_, _ = fmt.Fprintf(&all, "line of %d\n", i)
				_ = all.String()
			}
		})
	}
	writers.Wait()
	for i := range 8 {
		if n := strings.Count(all.String(), fmt.Sprintf("line of %d\n", i)); n != 100 {
			t.Errorf("%d lines of writer %d, want 100", n, i)
		}
	}
}
