package store_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/snapshot"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/core/task"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

// sizes around every cut: inline, just over, several parts, and code points that lie across them.
func bodies() map[string]string {
	const part = store.MaxItemBytes - 8*1024
	noise := make([]byte, 150_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	return map[string]string{
		"noise": hex.EncodeToString(noise), "noise of a kilobyte": hex.EncodeToString(noise[:512]),
		"empty": "", "small": "é", "half": strings.Repeat("x", 90_000),
		"just inline":       strings.Repeat("x", store.MaxItemBytes-300),
		"at the limit":      strings.Repeat("x", store.MaxItemBytes),
		"one part full":     strings.Repeat("x", part),
		"three parts":       strings.Repeat("é😀<\"", 80_000),
		"across a cut, 1":   "x" + strings.Repeat("é", part*2/3),
		"across a cut, 2":   "xx" + strings.Repeat("😀", part/3),
		"across a cut, 600": strings.Repeat("€", 200*1024),
	}
}

// events makes one event for each text, numbered from first.
func events(first int64, texts ...string) []contract.SessionEvent {
	var list []contract.SessionEvent
	for i, text := range texts {
		data, err := json.Marshal(contract.MessageAppended{Delta: text})
		if err != nil {
			panic(err)
		}
		list = append(list, contract.SessionEvent{Type: "message.appended", Index: first + int64(i), SessionID: "s", At: contract.At(fake.Start()), Data: data})
	}
	return list
}

func firstError(seq iter.Seq2[contract.SessionEvent, error]) error {
	for _, err := range seq {
		return err
	}
	return nil
}

// read gives the texts of events from index on, checking that there is no gap.
func (b bench) read(t *testing.T, sessionID string, from int64) []string {
	t.Helper()
	var texts []string
	for e, err := range b.SessionEvents(t.Context(), sessionID, from) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Index != max(from, 0)+int64(len(texts)) {
			t.Errorf("event %d after %d events from %d", e.Index, len(texts), from)
		}
		var d contract.MessageAppended
		if err := json.Unmarshal(e.Data, &d); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, d.Delta)
	}
	return texts
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d bytes, want %d bytes; equal up to %d", what, len(got), len(want), common(got, want))
	}
}

func common(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func TestP22LargeBodiesComeBackEqual(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx, now := t.Context(), b.clock.Now()
		index := int64(0)
		for name, body := range bodies() {
			b.commit(t, store.NewEvents("s", session.Me{Owner: "o", Fence: 7}, events(index, body), now.Add(time.Hour).Unix()))
			same(t, name+" event", strings.Join(b.read(t, "s", index), "|"), body)
			index++

			segment := snapshot.Segment{ID: snapshot.NextID(now, "", [16]byte{}), Messages: []model.Message{model.Text(model.User, body)}, State: json.RawMessage(`{"n":1}`)}
			sessionID := "s-" + name
			b.commit(t, store.NewSegment(sessionID, segment, now))
			h, err := b.History(ctx, sessionID, segment.ID)
			if err != nil {
				t.Fatal(err)
			}
			same(t, name+" segment", h.Messages[0].PlainText(), body)

			if err := b.PutDetail(ctx, key.Hash(name), body); err != nil {
				t.Fatal(err)
			}
			detail, err := b.Detail(ctx, key.Hash(name))
			if err != nil {
				t.Fatal(err)
			}
			same(t, name+" detail", detail, body)
		}
	})
}

func TestP22LargeOutputsAndRequests(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		for _, name := range []string{"empty", "half", "at the limit", "three parts"} {
			body, id := bodies()[name], strings.ReplaceAll(name, " ", "-")
			request := task.Request{TaskID: id, Principal: user, Request: beginning(body, contract.MaxMessageBytes), SystemPrompt: beginning(body, contract.MaxPromptBytes),
				DeliveryID: "d-1", Trigger: &task.Trigger{Payload: json.RawMessage(fmt.Sprintf("%q", strings.Repeat("p", len(body))))}}
			if _, err := b.CreateTask(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			claimed, err := b.StartTask(t.Context(), request, task.Claim{Owner: "o", DeliveryID: "d-1", Lease: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.FinishTask(t.Context(), claimed, task.Result{Status: task.Completed, Output: body}); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time after an announcement, which must touch no text
				got, err := b.Task(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				detail, _ := json.Marshal(request)
				same(t, name+" output", got.Output, body)
				same(t, name+" detail", got.Detail, string(detail))
				same(t, name+" request", got.Request, request.Request)
				puts := b.raw.count()
				if err := b.Announced(t.Context(), got); err != nil {
					t.Fatal(err)
				}
				if n := b.raw.count() - puts; n != 0 {
					t.Errorf("%s: Announced puts %d rows, want none", name, n)
				}
			}
		}
	})
}

func beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// A task whose text shrinks or grows has no text of the other kind left.
func TestATaskTextChangesItsPlace(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		large, larger := strings.Repeat("é", 100_000), strings.Repeat("x", 800_000)
		there := task.Task{}
		for i, output := range []string{"", "small", large, larger, "small", "", large, ""} {
			to := task.Task{TaskID: "t", Status: task.Completed, Output: output, Fence: int64(i), ExpiresAt: b.clock.Now().Add(time.Hour).Unix()}
			b.commit(t, store.ChangeTask(task.Change{From: there, To: to, If: cond.Or(cond.Absent("pk"), cond.Exists("pk"))}))
			var err error
			if there, err = b.Task(t.Context(), "t"); err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprintf("output %d", i), there.Output, output)
			r := b.row(t, key.Task("t"))
			if _, inline := r["output"]; inline != (output == "small") {
				t.Errorf("output %d of %d bytes: in the row %v", i, len(output), inline)
			}
			if _, parts := r["outputParts"]; parts != (len(output) > 100_000) {
				t.Errorf("output %d of %d bytes: in parts %v", i, len(output), parts)
			}
		}
	})
}

// A large output that the TypeScript package left in the row stays there when something else changes.
func TestAnInlineOutputOfThePackageStays(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		output := strings.Repeat("x", 200_000)
		b.put(t, row{"pk": text("TASK#t"), "sk": text("STATUS"), "status": text("COMPLETED"), "output": text(output), "completionOwed": number("1"),
			"expiresAt": number("4102444800")})
		got, err := b.Task(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Announced(t.Context(), got); err != nil {
			t.Fatal(err)
		}
		again, err := b.Task(t.Context(), "t")
		if err != nil || again.CompletionOwed != 0 {
			t.Errorf("Task = owed %d, %v; want none owed", again.CompletionOwed, err)
		}
		same(t, "output", again.Output, output)
	})
}

// Two owners write the same event; the one who lost its lease writes its parts last. What is read is the winner's.
func TestPartsOfTwoFencesDoNotMix(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ours, theirs := strings.Repeat("o", 800_000), strings.Repeat("t", 800_000)
		b.commit(t, store.NewEvents("s", session.Me{Owner: "new", Fence: 4}, events(0, ours), 1<<40))
		err := b.Commit(t.Context(), store.NewEvents("s", session.Me{Owner: "old", Fence: 3}, events(0, theirs), 1<<40))
		wants(t, "the older owner's write", err, fault.Conflict)
		same(t, "event", strings.Join(b.read(t, "s", 0), ""), ours)
	})
}

// The same for two claims of one task that race with different requests.
func TestPartsOfRivalsForATaskDoNotMix(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		request := func(fill string) task.Request {
			return task.Request{TaskID: "t", Principal: user, Request: "x", SystemPrompt: strings.Repeat(fill, 60_000),
				Trigger: &task.Trigger{Payload: json.RawMessage(`"` + strings.Repeat(fill, 500_000) + `"`)}}
		}
		none := task.Task{}
		claim := func(fill string) store.Write {
			return store.ChangeTask(none.Claim(request(fill), mustJSON(request(fill)), "d", "o-"+fill, time.Minute, b.clock.Now()))
		}
		b.commit(t, claim("a"))
		wants(t, "the rival's claim", b.Commit(t.Context(), claim("b")), fault.Conflict)
		got, err := b.Task(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "detail", got.Detail, mustJSON(request("a")))
	})
}

func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestAMissingPartIsNoEmptyText(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		if err := b.PutDetail(t.Context(), "d", strings.Repeat("x", 800_000)); err != nil {
			t.Fatal(err)
		}
		part := key.Part(key.Detail("d"), 1)
		b.put(t, row{"pk": text(part.PK), "sk": text(part.SK + "x")}) // a neighbour, to show that only that part is missed
		if !removeRow(t, b, part) {
			t.Fatal("the second part is not where it should be")
		}
		_, err := b.Detail(t.Context(), "d")
		wants(t, "Detail without a part", err, fault.Internal)
	})
}

// A refused task keeps the beginning of a request that no row can hold, and a reason is cut rather than lost.
func TestWhatNoRowCanHoldIsCut(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		request := task.Request{TaskID: "t", Principal: user, Request: strings.Repeat("😀", 300_000)}
		refused := task.Task{}.Refuse(request, mustJSON(request), "d", strings.Repeat("é", 200_000), b.clock.Now())
		b.commit(t, store.ChangeTask(refused))
		got, err := b.Task(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Request) != contract.MaxMessageBytes || len(got.Error) != 16*1024 || !utf8.ValidString(got.Request+got.Error) {
			t.Errorf("request of %d bytes, error of %d", len(got.Request), len(got.Error))
		}
		if diff := cmp.Diff(task.Failed, got.Status); diff != "" || !got.FailedFor("d") || got.CompletionOwed != 1 {
			t.Errorf("the task is %+v", got.Result().Status)
		}
	})
}

// The other attributes of a row count too, to the byte.
func TestTheRowThatJustFits(t *testing.T) {
	b := openFake(t)
	for _, over := range []int{0, 1} {
		id := fmt.Sprint(over)
		if err := b.PutDetail(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
		empty := 0
		for name, v := range b.row(t, key.Detail(id)) {
			empty += len(name)
			switch v := v.(type) {
			case *types.AttributeValueMemberS:
				empty += len(v.Value)
			case *types.AttributeValueMemberN:
				empty += len(v.Value)/2 + 2
			}
		}
		if err := b.PutDetail(t.Context(), id, strings.Repeat("x", store.MaxItemBytes-empty+over)); err != nil {
			t.Fatal(err)
		}
		if _, inline := b.row(t, key.Detail(id))["text"]; inline != (over == 0) {
			t.Errorf("%d bytes over the limit: in the row %v", over, inline)
		}
	}
}
