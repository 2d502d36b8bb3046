package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// doing is a read-only tool of one function.
func doing(fn func(ctx tool.Context) (string, error)) tool.Tool {
	return tool.ReadOnly(tool.New("work", "works", func(ctx tool.Context, _ struct{}) (string, error) { return fn(ctx) }))
}

func TestTimeout(t *testing.T) {
	tests := []struct {
		name string
		fn   func(ctx tool.Context) (string, error)
		want string
		err  string
	}{
		{"in time", func(tool.Context) (string, error) { time.Sleep(time.Second); return "done", nil }, "done", ""},
		{"own error", func(tool.Context) (string, error) { return "", errors.New("no such order") }, "", "no such order"},
		{"listens", func(ctx tool.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }, "", "the tool did not finish within 2s"},
		{"does not listen", func(tool.Context) (string, error) { time.Sleep(time.Hour); return "late", nil }, "", "the tool did not finish within 2s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				got, err := tool.Timeout(doing(tt.fn), 2*time.Second).Call(tool.Context{Context: t.Context()}, nil)
				if tt.err == "" && (err != nil || got != tt.want) || tt.err != "" && (err == nil || err.Error() != tt.err) {
					t.Errorf("Call = %v, %v, want %q, %q", got, err, tt.want, tt.err)
				}
				if took := time.Since(begin); took > 2*time.Second {
					t.Errorf("Call took %s", took)
				}
				time.Sleep(2 * time.Hour) // lets the one that does not listen end
			})
		})
	}
}

func TestTimeoutWhenTheTurnEnds(t *testing.T) {
	stop, slow := errors.New("stopped by the user"), fault.New(fault.Unavailable, "slow").Because("tool_timeout")
	tests := []struct {
		name string
		fn   func(ctx tool.Context) (string, error)
		want any
		err  error
		took time.Duration
	}{
		{"listens", func(ctx tool.Context) (string, error) { <-ctx.Done(); return "", context.Cause(ctx) }, "", stop, time.Second},
		{"saves first", func(ctx tool.Context) (string, error) { <-ctx.Done(); time.Sleep(time.Second); return "saved", nil }, "saved", nil, 2 * time.Second},
		{"does not listen", func(ctx tool.Context) (string, error) { time.Sleep(time.Hour); return "late", nil }, nil, slow, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(stop) })
				begin := time.Now()
				got, err := tool.Timeout(doing(tt.fn), time.Minute).Call(tool.Context{Context: ctx}, nil)
				sameErr := errors.Is(err, tt.err) || tt.err == error(slow) && fault.ReasonOf(err) == "tool_timeout"
				if got != tt.want || !sameErr || time.Since(begin) != tt.took {
					t.Errorf("Call = %v, %v after %s, want %v, %v after %s", got, err, time.Since(begin), tt.want, tt.err, tt.took)
				}
				time.Sleep(time.Hour) // lets the one that does not listen end
			})
		})
	}
}

func TestTimeoutPassesOnPanics(t *testing.T) {
	defer func() {
		if p, _ := recover().(string); !strings.HasPrefix(p, "boom\n") || !strings.Contains(p, "wrap_test.go") {
			t.Errorf("panic = %q, want boom with its own stack", p)
		}
	}()
	_, _ = tool.Timeout(doing(func(tool.Context) (string, error) { panic("boom") }), time.Minute).Call(tool.Context{}, nil)
	t.Error("the panic was swallowed")
}

func TestTimeoutOff(t *testing.T) {
	if got := tool.Timeout(plain{Name: "a"}, 0).Spec().Name; got != "a" {
		t.Fatal(got)
	}
	deadline := doing(func(ctx tool.Context) (string, error) {
		if _, ok := ctx.Deadline(); ok {
			return "limited", nil
		}
		return "free", nil
	})
	if got, err := tool.Timeout(deadline, 0).Call(tool.Context{}, nil); err != nil || got != "free" {
		t.Errorf("Call = %v, %v, want free", got, err)
	}
}

func TestRetryReads(t *testing.T) {
	busy := fault.New(fault.Unavailable, "busy")
	type retry struct {
		Try  int
		Wait time.Duration
	}
	tests := []struct {
		name  string
		fails int
		err   error
		write bool
		calls int
		ok    bool
		told  []retry
	}{
		{name: "at once", calls: 1, ok: true},
		{name: "second try", fails: 1, err: busy, calls: 2, ok: true, told: []retry{{1, time.Second}}},
		{name: "too often", fails: 9, err: busy, calls: 3, told: []retry{{1, time.Second}, {2, 2 * time.Second}}},
		{name: "final fault", fails: 9, err: fault.New(fault.NotFound, "gone"), calls: 1},
		{name: "a write is never repeated", fails: 9, err: busy, write: true, calls: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				work := doing(func(tool.Context) (string, error) {
					if calls++; calls <= tt.fails {
						return "", tt.err
					}
					return "done", nil
				})
				if tt.write {
					work = tool.New("work", "works", func(ctx tool.Context, _ struct{}) (any, error) {
						calls++
						return nil, tt.err
					})
				}
				var told []retry
				ctx := tool.Context{Context: t.Context(), Retried: func(try int, wait time.Duration, err error) {
					told = append(told, retry{try, wait})
					if !errors.Is(err, tt.err) {
						t.Errorf("told of %v, want %v", err, tt.err)
					}
				}}
				got, err := tool.RetryReads(work, 0, time.Second).Call(ctx, json.RawMessage(`{}`))
				if (err == nil) != tt.ok || tt.ok && got != "done" || !tt.ok && !errors.Is(err, tt.err) {
					t.Errorf("Call = %v, %v, want ok %v", got, err, tt.ok)
				}
				if diff := cmp.Diff(tt.told, told); diff != "" || calls != tt.calls {
					t.Errorf("%d calls, want %d; told (-want +got):\n%s", calls, tt.calls, diff)
				}
			})
		})
	}
}

func TestRetryReadsEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		busy := fault.New(fault.Unavailable, "busy")
		work := doing(func(tool.Context) (string, error) { return "", busy })
		begin := time.Now()
		if _, err := tool.RetryReads(work, 5, time.Minute).Call(tool.Context{Context: ctx}, nil); !errors.Is(err, busy) {
			t.Errorf("Call = %v, want %v", err, busy)
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("Call took %s, want to end with its context", took)
		}
	})
}

func TestGetCurrentTime(t *testing.T) {
	at := time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC)
	clock := tool.GetCurrentTime{Now: func() time.Time { return at }}
	tests := []struct{ name, input, want, err string }{
		{"no zone", `{}`, `{"time":"2026-03-01T23:30:00Z","timezone":"UTC","weekday":"Sunday"}`, ""},
		{"no input", ``, `{"time":"2026-03-01T23:30:00Z","timezone":"UTC","weekday":"Sunday"}`, ""},
		{"null zone", `{"timezone":null}`, `{"time":"2026-03-01T23:30:00Z","timezone":"UTC","weekday":"Sunday"}`, ""},
		{"another day there", `{"timezone":"Asia/Tokyo"}`, `{"time":"2026-03-02T08:30:00+09:00","timezone":"Asia/Tokyo","weekday":"Monday"}`, ""},
		{"unknown", `{"timezone":"Mars/Olympus"}`, "", `there is no time zone "Mars/Olympus": use an IANA name`},
		{"the host's", `{"timezone":"Local"}`, "", `there is no time zone "Local"`},
		{"a path", `{"timezone":"../etc/passwd"}`, "", `there is no time zone "../etc/passwd"`},
		{"wrong type", `{"timezone":1}`, "", `want "string"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			output, err := clock.Call(tool.Context{}, json.RawMessage(tt.input))
			if tt.err != "" {
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("Call = %v, want Invalid with %q", err, tt.err)
				}
				return
			}
			got, jsonErr := json.Marshal(output)
			if err != nil || jsonErr != nil || string(got) != tt.want {
				t.Errorf("Call = %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	if s := clock.Spec(); s.Name != "get_current_time" || !s.ReadOnly {
		t.Errorf("Spec = %+v", s)
	}
}

func TestGetCurrentTimeUsesTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		output, err := tool.GetCurrentTime{}.Call(tool.Context{}, nil)
		got, _ := json.Marshal(output)
		if want := `{"time":"2000-01-01T00:00:00Z","timezone":"UTC","weekday":"Saturday"}`; err != nil || string(got) != want {
			t.Errorf("Call = %s, %v, want %s", got, err, want)
		}
	})
}
