package cloud_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud"
)

func TestOneLinePerInvocation(t *testing.T) {
	c := start(t, cloud.Options{})
	c.http("GET", "/notes/none", c.token("ada"), "")
	line := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d invoked function=read trigger="GET /notes/\S+" ms=\d+ outcome=ok$`)
	eventually(t, "the line", func() bool { return line.MatchString(c.out.String()) })
	if n := strings.Count(c.out.String(), "invoked"); n != 1 {
		t.Errorf("%d lines for one invocation:\n%s", n, c.out)
	}
	if strings.Contains(c.out.String(), c.token("ada")[:20]) {
		t.Error("the log holds a token")
	}
}
