package rehearsal_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// image is what functions run in: the emulator and nothing else. SAM takes it under a name of our own, so that an image of AWS that
// a developer has stays what it is.
const image = "steadfast/provided"

// TestFunctionsInSamLocal: `sam local invoke` runs every function in a container, with the environment that `steadfast dev` wrote.
func TestFunctionsInSamLocal(t *testing.T) {
	rie := tool(t, "STEADFAST_RIE", "test-sam-local")
	if os.Getenv("STEADFAST_CONTAINERS") == "" {
		t.Skip("STEADFAST_CONTAINERS is not set: run make test-sam-local")
	}
	arch := architecture(t)
	e := startEngine(t)
	e.makeImage(t, rie, arch)
	dir := build(t, arch)
	d := startDev(t, e.host)
	d.warm(t)
	play(t, d, samLocal{dir: dir, architecture: arch, engine: e, dev: d})
}

// makeImage builds the image from scratch, without a network. SAM finds it by its tag and asks no registry.
func (e engine) makeImage(t *testing.T, rie, arch string) {
	t.Helper()
	dir := t.TempDir()
	for path, content := range map[string][]byte{
		"Dockerfile":                []byte("FROM scratch\nCOPY var /var\nCOPY tmp /tmp\n"),
		"var/rapid/aws-lambda-rie":  read(t, rie),
		"tmp/so that the folder is": nil,
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(t, tidy(append(e.env, "DOCKER_BUILDKIT=0")...), "docker", "build", "--tag", image+":rapid-"+arch, dir)
}

// samLocal runs functions by `sam local invoke`.
type samLocal struct {
	dir, architecture string
	engine            engine
	dev               *dev
}

func (s samLocal) invoke(t *testing.T, f sam.Function, event string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), samTool(t, "sam"), "local", "invoke", f.LogicalID,
		"--template", filepath.Join(s.dir, "template.yaml"), "--parameter-overrides", "Architecture="+s.architecture,
		"--event", event, "--env-vars", s.dev.file, "--invoke-image", image+":latest", "--skip-pull-image")
	// SAM passes on whose credentials it finds: here the function's own, so that its policies count.
	own := s.dev.env[f.LogicalID]
	cmd.Env = tidy(append(s.engine.env, "AWS_ACCESS_KEY_ID="+own["AWS_ACCESS_KEY_ID"], "AWS_SECRET_ACCESS_KEY="+own["AWS_SECRET_ACCESS_KEY"])...)
	cmd.Dir = t.TempDir()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("sam local invoke: %v\n%s%s", err, &out, &said)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("sam local said:\n%s", &said)
		}
	})
	return out.Bytes()
}
