package interop_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// node is the running Node program. It is safe for concurrent use.
type node struct {
	process *exec.Cmd
	input   io.WriteCloser
	ended   chan struct{} // no more answers come

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
}

// reply is what became of one call.
type reply struct {
	ID    int
	Value json.RawMessage
	Error *failure
}

// failure is an exception of the package.
type failure struct{ Name, Message string }

func (f *failure) Error() string { return f.Name + ": " + f.Message }

// startNode runs the program with the environment of any program that uses the package.
func startNode(info stackInfo, log io.Writer) (*node, error) {
	answers, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	n := &node{process: exec.Command("node", "--no-deprecation", "main.mjs"), waiting: map[int]chan reply{}, ended: make(chan struct{})}
	n.process.Dir, n.process.ExtraFiles = program, []*os.File{theirs}
	n.process.Stdout, n.process.Stderr = log, log
	n.process.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+info.AWS, "AWS_REGION="+info.Region, "TABLE_NAME="+info.Table,
		"AWS_ACCESS_KEY_ID=outside", "AWS_SECRET_ACCESS_KEY=secret", "NODE_NO_WARNINGS=1")
	if n.input, err = n.process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := n.process.Start(); err != nil {
		return nil, err
	}
	go n.read(answers)
	return n, theirs.Close()
}

func (n *node) read(answers io.ReadCloser) {
	defer close(n.ended)
	defer func() { _ = answers.Close() }()
	lines := bufio.NewScanner(answers)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r reply
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			return
		}
		n.mu.Lock()
		n.waiting[r.ID] <- r
		delete(n.waiting, r.ID)
		n.mu.Unlock()
	}
}

// call runs one operation of the program and gives its value, or the package's exception.
func (n *node) call(op string, args any) (json.RawMessage, error) {
	answer := make(chan reply, 1)
	n.mu.Lock()
	n.next++
	id := n.next
	n.waiting[id] = answer
	line, err := json.Marshal(map[string]any{"id": id, "op": op, "args": args})
	if err == nil {
		_, err = n.input.Write(append(line, '\n'))
	}
	n.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			return nil, r.Error
		}
		return r.Value, nil
	case <-n.ended:
		return nil, fmt.Errorf("%s: the Node program has ended", op)
	case <-time.After(60 * time.Second):
		return nil, fmt.Errorf("%s: no answer in a minute", op)
	}
}

func (n *node) end() error {
	return errors.Join(n.input.Close(), n.process.Wait())
}

// args are the fields of the object that a function of the package is given.
type args map[string]any

// call runs an operation that must succeed and reads its value.
func call[T any](b bench, op string, a args) T {
	b.t.Helper()
	raw, err := b.node.call(op, a)
	if err != nil {
		b.t.Fatalf("the package's %s: %v", op, err)
	}
	return decode[T](b.t, raw)
}

func decode[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return out
}

// rows gives what a partition of the table holds, by sort key.
func (b bench) rows(pk string) map[string]map[string]any {
	b.t.Helper()
	out := map[string]map[string]any{}
	for _, row := range call[[]map[string]any](b, "rows", args{"pk": pk}) {
		out[row["sk"].(string)] = row
	}
	return out
}
