package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
	"github.com/steadfast-agents/steadfast/core/store"
	"github.com/steadfast-agents/steadfast/internal/fake"
)

func TestFilesOfASession(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		ctx := context.Background()
		large := strings.Repeat("0123456789abcdef", 60_000) // 960 KB
		for _, w := range []struct{ session, path, content string }{
			{"s1", "b.md", "first"}, {"s1", "a/x.txt", ""}, {"s2", "b.md", "of another session"}, {"s1", "b.md", large}, {"s1", "b.md", "short again"}, {"s1", "large", large},
		} {
			if err := b.PutFile(ctx, w.session, w.path, w.content, 0); err != nil {
				t.Fatal(err)
			}
			if got, err := b.File(ctx, w.session, w.path); err != nil || got != w.content {
				t.Fatalf("%s reads %d bytes, %v, want %d", w.path, len(got), err, len(w.content))
			}
		}
		if err := b.Commit(ctx, store.TagFile("s1", "b.md", "report")); err != nil {
			t.Fatal(err)
		}
		if err := b.PutFile(ctx, "s1", "b.md", "tagged before", 0); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(ctx, store.TagFile("s1", "none", "report")); !store.RefusedBy(err, key.File("s1", "none")) {
			t.Errorf("tag of nothing: %v", err)
		}
		want := []contract.FileInfo{{Path: "a/x.txt"}, {Path: "b.md", Bytes: 13, Artifact: "report"}, {Path: "large", Bytes: int64(len(large))}}
		got, err := b.Files(ctx, "s1")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if _, err := b.File(ctx, "s1", "none"); !fault.Is(err, fault.NotFound) {
			t.Errorf("a file that is not there: %v", err)
		}
	})
}

func TestAReaderOfAFileSeesOneVersionWhole(t *testing.T) {
	b := openFake(t)
	ctx := context.Background()
	version := func(n int) string { return strings.Repeat(string(rune('a'+n)), 800_000) }
	if err := b.PutFile(ctx, "s", "f", version(0), 0); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for range 5 {
				if err := b.PutFile(ctx, "s", "f", version(n), 0); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range 10 {
				got, err := b.File(ctx, "s", "f")
				if err != nil || len(got) != 800_000 || strings.Count(got, got[:1]) != len(got) {
					t.Errorf("%d bytes of more than one version, %v", len(got), err)
				}
			}
		})
	}
	all.Wait()
}

// dying is the table of a worker that is overtaken before its second write, and dies before the third.
type dying struct {
	store.API
	writes   int
	overtake func()
}

var errDead = errors.New("the worker is dead")

func (d *dying) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	switch d.writes++; d.writes {
	case 1:
	case 2:
		d.overtake()
	default:
		return nil, errDead
	}
	return d.API.PutItem(ctx, in, o...)
}

// TestAWriterOfAFileThatDiesLeavesTheOthersWhole: two write the same large file at once, and one of them dies in the middle.
func TestAWriterOfAFileThatDiesLeavesTheOthersWhole(t *testing.T) {
	b := openFake(t)
	ctx := context.Background()
	version := func(c string) string { return strings.Repeat(c, 800_000) }
	put := func(content string) {
		if err := b.PutFile(ctx, "s", "f", content, 0); err != nil {
			t.Error(err)
		}
	}
	put(version("a"))
	dead := b.Table
	dead.DynamoDB = &dying{API: b.DynamoDB, overtake: func() { put(version("b")) }}
	if err := dead.PutFile(ctx, "s", "f", version("c"), 0); err == nil {
		t.Error("the dead writer has written")
	}
	if got, err := b.File(ctx, "s", "f"); err != nil || got != version("b") {
		t.Errorf("%d bytes, %d of them the living writer's, %v", len(got), strings.Count(got, "b"), err)
	}
}

// TestAWriterOfAFileThatIsLateLeavesNothing: the rows of a text that another's was faster than are gone.
func TestAWriterOfAFileThatIsLateLeavesNothing(t *testing.T) {
	d := fake.NewDynamo("main")
	table := store.Table{Name: "main", DynamoDB: d}
	ctx := context.Background()
	large := strings.Repeat("x", 800_000)
	refused := store.NewExecution(session.Approval{SessionID: "other", ActionID: "a"})
	if err := errors.Join(table.PutFile(ctx, "s", "f", large, 0), table.Commit(ctx, refused)); err != nil {
		t.Fatal(err)
	}
	before := len(d.Items(key.SessionPK("s")))
	if err := table.PutFileOf(ctx, "s", 0, "f", large+"y", 0, refused); !fault.Is(err, fault.Conflict) {
		t.Fatalf("written: %v", err)
	}
	if after := len(d.Items(key.SessionPK("s"))); before != 4 || after != before {
		t.Errorf("%d rows, before %d", after, before)
	}
}

// meeting is a table in which somebody else writes right before a file's row is written.
type meeting struct {
	*fake.Dynamo
	other func()
}

func (m *meeting) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if sk, ok := in.Item["sk"].(*types.AttributeValueMemberS); ok && m.other != nil && strings.HasPrefix(sk.Value, key.FilePrefix) {
		other := m.other
		m.other = nil
		other()
	}
	return m.Dynamo.PutItem(ctx, in, o...)
}

// TestTwoWritersOfAFileLeaveOneVersion: the later one wins, and of the other nothing is left.
func TestTwoWritersOfAFileLeaveOneVersion(t *testing.T) {
	ctx := context.Background()
	m := &meeting{Dynamo: fake.NewDynamo("main")}
	table := store.Table{Name: "main", DynamoDB: m}
	mine, theirs := long(), "b"+long()
	m.other = func() {
		if err := table.PutFile(ctx, "s", "f", theirs, 0); err != nil {
			t.Error(err)
		}
	}
	if err := table.PutFile(ctx, "s", "f", mine, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := table.File(ctx, "s", "f"); err != nil || got != mine {
		t.Errorf("%d bytes are read, %v", len(got), err)
	}
	if n := len(m.Items(key.SessionPK("s"))); n != 4 {
		t.Errorf("%d rows, want the file's and its three parts", n)
	}
}

// TestAFileWhoseTimeIsOver is not there, whether or not the table has removed it.
func TestAFileWhoseTimeIsOver(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		if err := b.PutFile(t.Context(), "s", "f", "text", b.clock.Now().Add(time.Hour).Unix()); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(2 * time.Hour)
		_, err := b.File(t.Context(), "s", "f")
		wants(t, "read", err, fault.NotFound)
		if files, err := b.Files(t.Context(), "s"); err != nil || len(files) != 0 {
			t.Errorf("listed: %v, %v", files, err)
		}
	})
}
