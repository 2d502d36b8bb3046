package lambda

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// invocation is one run of a function, from being asked for to its answer.
type invocation struct {
	id, trigger string
	trace       string
	function    sam.Function
	payload     []byte
	submitted   time.Time

	taken    chan struct{}      // closed when a process has it
	answer   chan invoke.Result // what the process answered; room for one
	settled  chan struct{}      // closed when the process that answered asks for work again
	done     chan struct{}      // closed when result and err stand
	finished func()             // called once, before done is closed
	stream   *tap               // takes the answer as it comes; nil: it is taken whole

	answered bool // under the lock of the process that runs it
	once     sync.Once
	result   invoke.Result
	err      error
	outcome  string
	took     time.Duration
}

func newInvocation(id string, f sam.Function, trigger string, payload []byte) *invocation {
	hex := strings.ReplaceAll(uuid.NewString(), "-", "")
	return &invocation{
		id: id, function: f, trigger: trigger, payload: payload, submitted: time.Now(),
		trace: fmt.Sprintf("Root=1-%08x-%s;Parent=%s;Sampled=0", time.Now().Unix(), hex[:24], hex[16:]),
		taken: make(chan struct{}), answer: make(chan invoke.Result, 1), settled: make(chan struct{}), done: make(chan struct{}),
	}
}

// finish sets the result; only the first call counts.
func (i *invocation) finish(r invoke.Result, err error) {
	i.once.Do(func() {
		i.result, i.err, i.took = r, err, time.Since(i.submitted)
		i.outcome = outcome(r, err)
		if i.finished != nil {
			i.finished()
		}
		close(i.done)
	})
}

// failure is the JSON that a failed function answers with.
type failure struct {
	Message string `json:"errorMessage"`
	Type    string `json:"errorType"`
}

// failed makes the result of a function that the host ended, kind being its error type.
func (i *invocation) failed(kind, format string, args ...any) invoke.Result {
	text := fmt.Sprintf("RequestId: %s Error: ", i.id) + fmt.Sprintf(format, args...)
	body, err := json.Marshal(failure{Message: text, Type: kind})
	if err != nil {
		body = []byte(`{}`)
	}
	return invoke.Result{Payload: body, FunctionError: kind}
}

// outcome is a short word for the log: "ok", or what went wrong, cut to 300 bytes.
func outcome(r invoke.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	if r.FunctionError == "" {
		return "ok"
	}
	var f failure
	if json.Unmarshal(r.Payload, &f) != nil || f.Message == "" {
		return r.FunctionError
	}
	_, text, found := strings.Cut(f.Message, " Error: ")
	if !found || !strings.HasPrefix(f.Message, "RequestId: ") {
		text = f.Message
	}
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "..."
	}
	return fmt.Sprintf("%s: %s", f.Type, text)
}

// report writes the one line of an invocation.
func (h *Host) report(i *invocation) {
	write := h.config.Log.Info
	if i.outcome != "ok" {
		write = h.config.Log.Error
	}
	write("invoked", "function", i.function.Name, "trigger", i.trigger, "ms", i.took.Milliseconds(), "outcome", i.outcome)
}
