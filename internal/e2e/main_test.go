package e2e_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// project is the root of the module, and program the built command line.
var project, program string

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "16") // tests mostly wait for other processes
	os.Exit(withPrograms(m.Run))
}

// withPrograms builds everything once, so that no test waits for a compiler.
func withPrograms(run func() int) int {
	dir, err := os.MkdirTemp("", "steadfast-e2e-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "steadfast")
	if project, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		panic(err)
	}
	began := time.Now()
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("built in %.1fs\n", time.Since(began).Seconds())
	status := run()
	if err := errors.Join(closeShared(), books.close(status == 0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

func build() error {
	compile := exec.Command("go", "build", "-o", program, "./cmd/steadfast")
	compile.Dir = project
	if said, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("build the command line: %w\n%s", err, said)
	}
	c, err := cloud.Start(context.Background(), cloud.Options{Dir: project, Addr: "127.0.0.1:0", Out: os.Stderr})
	if err != nil {
		return err
	}
	if err := c.Build(context.Background()); err != nil {
		return err
	}
	return c.Close(context.Background())
}

// once is the cloud that tests share which only look at sessions and tasks of their own.
var once struct {
	sync.Mutex
	world *world
}

func shared(t *testing.T) stack {
	t.Helper()
	once.Lock()
	defer once.Unlock()
	if once.world == nil {
		w, err := open(cloud.Options{
			Model:      quick(),
			Parameters: map[string]string{"SystemTaskPrincipals": sub("grantee") + ":nightly, nonsense, " + sub("nobody") + ":"},
		})
		if err != nil {
			t.Fatal(err)
		}
		once.world = w
	}
	s := stack{once.world, t}
	t.Cleanup(s.showLogOfFailed)
	return s
}

func closeShared() error {
	once.Lock()
	defer once.Unlock()
	if once.world == nil {
		return nil
	}
	return once.world.end()
}

// quick is the offline model without its leisure.
func quick() bedrock.Responder {
	return bedrock.Offline{Delay: time.Millisecond, Attempts: &bedrock.Attempts{}}
}
