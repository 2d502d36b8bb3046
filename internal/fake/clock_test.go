package fake_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/steadfast-agents/steadfast/internal/fake"
)

func TestClock(t *testing.T) {
	c := &fake.Clock{}
	if c.Now() != fake.Start() || c.Advance(time.Hour) != fake.Start().Add(time.Hour) {
		t.Errorf("Now = %v", c.Now())
	}
	synctest.Test(t, func(t *testing.T) {
		c := &fake.Clock{Follow: true}
		c.Set(fake.Start().Add(time.Minute))
		time.Sleep(time.Second)
		if got := c.Now().Sub(fake.Start()); got != time.Minute+time.Second {
			t.Errorf("a following clock moved %v", got)
		}
	})
}
