package cloud_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/internal/cloud"
)

func TestEndToEnd(t *testing.T) {
	data := t.TempDir()
	c := start(t, cloud.Options{Data: data, Parameters: map[string]string{"Greeting": "good day"}})
	ada := c.token("ada")
	if got := c.http("POST", "/notes", "", `{}`); got.status != 401 {
		t.Errorf("without a token: %+v, want 401", got)
	}
	submitted := c.http("POST", "/notes", ada, `{"id":"n1","text":"ada"}`)
	if submitted.status != 202 || len(submitted.body) != 36 {
		t.Fatalf("POST /notes = %+v, want 202 with the caller's id", submitted)
	}
	eventually(t, "the rule to deliver the note", c.note("n1", ada, "good day ada"))
	c.stop()

	public, err := url.Parse(c.Info().HTTP)
	if err != nil {
		t.Fatal(err)
	}
	again := start(t, cloud.Options{Data: data, Addr: public.Host})
	if !again.note("n1", ada, "good day ada")() {
		t.Error("after a restart the note, or the token, is not good any more")
	}
	if got := again.http("POST", "/notes", again.token("ada"), `{"id":"n2"}`); got.body != submitted.body {
		t.Errorf("ada was %s and is %s", submitted.body, got.body)
	}
}

func TestWhatIsNotGrantedIsDenied(t *testing.T) {
	c := start(t, cloud.Options{})
	if got := c.http("DELETE", "/notes/n1", c.token("ada"), ""); got.status != 500 {
		t.Errorf("DELETE = %+v, want 500: read may not delete", got)
	}
	if !strings.Contains(c.out.String(), "not authorized to perform: dynamodb:DeleteItem") {
		t.Error("what was denied is not shown")
	}
	for _, f := range c.IAMReport().Functions {
		if f.Function == "read" && (len(f.Denied) != 1 || f.Denied[0].Action != "dynamodb:DeleteItem") {
			t.Errorf("the report on read is %+v", f)
		}
	}
}

func TestStartIsQuick(t *testing.T) {
	began := time.Now()
	start(t, cloud.Options{})
	if took := time.Since(began); took > 5*time.Second { // usually some milliseconds; this only finds a build at the start
		t.Errorf("start took %v", took)
	}
}

func TestWebSocket(t *testing.T) {
	c := start(t, cloud.Options{})
	conn, _, err := websocket.Dial(t.Context(), c.Info().WS, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"action":"x"}`)); err != nil {
		t.Fatal(err)
	}
	_, got, err := conn.Read(t.Context())
	if err != nil || string(got) != `you said {"action":"x"}` {
		t.Errorf("= %q, %v", got, err)
	}
}

func TestSecondCloud(t *testing.T) {
	data := t.TempDir()
	first := start(t, cloud.Options{Data: data})
	public, err := url.Parse(first.Info().HTTP)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		options cloud.Options
		want    string
	}{
		{"same folder", cloud.Options{Data: data, Addr: "127.0.0.1:0"}, "the data folder " + data + " is in use by another local cloud (process "},
		{"same address", cloud.Options{Addr: public.Host}, "the address " + public.Host + " is in use"},
		{"unknown parameter", cloud.Options{Addr: "127.0.0.1:0", Parameters: map[string]string{"Pol": "x"}}, "parameter Pol"},
		{"unknown model", cloud.Options{Addr: "127.0.0.1:0", ModelSpec: "crystal:ball"}, `the model "crystal:ball" is not known`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			tc.options.Dir = project
			_, err := cloud.Start(t.Context(), tc.options)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Start = %v, want one line with %q", err, tc.want)
			}
		})
	}
	if got := first.http("GET", "/_dev/info", "", ""); got.status != 200 {
		t.Errorf("the first cloud answers %+v", got)
	}
}

func TestFolderIsFreeAfterAFailedStart(t *testing.T) {
	data := t.TempDir()
	_, err := cloud.Start(t.Context(), cloud.Options{Dir: t.TempDir(), Addr: "127.0.0.1:0", Data: data})
	if err == nil || !strings.Contains(err.Error(), "template.yaml") {
		t.Fatalf("Start = %v, want an error about the template", err)
	}
	start(t, cloud.Options{Data: data})
}

func TestInfoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "info.json")
	c := start(t, cloud.Options{InfoFile: path})
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	base := c.Info().HTTP
	want := map[string]string{
		"http": base, "ws": "ws" + strings.TrimPrefix(base, "http") + "/live", "aws": c.Info().AWS,
		"table": "steadfast-Notes", "bus": "default", "issuer": base + "/us-east-1_local", "region": "us-east-1", "stream": "",
	}
	if diff := cmp.Diff(want, decode[map[string]string](t, string(body))); diff != "" {
		t.Errorf("info file (-want +got):\n%s", diff)
	}
	keys := c.http("GET", "/us-east-1_local/.well-known/jwks.json", "", "")
	if keys.status != 200 || !strings.Contains(keys.body, `"RS256"`) {
		t.Errorf("the issuer's keys = %+v", keys)
	}
}

// TestTemplateOfTheProject starts the template that deploys; nothing is built.
func TestTemplateOfTheProject(t *testing.T) {
	c, err := cloud.Start(t.Context(), cloud.Options{Dir: filepath.Join("..", ".."), Addr: "127.0.0.1:0", Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if got := c.Info(); got.Table != "steadfast-Table" || !strings.HasSuffix(got.WS, "/live") || got.Bus != "default" {
		t.Errorf("Info = %+v", got)
	}
}

// TestEnvFile: a program that runs a function itself finds there all that the function reads.
func TestEnvFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "env.json")
	c := start(t, cloud.Options{EnvFile: path, Env: map[string]map[string]string{"keep": {"GREETING": "hi"}}})
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := decode[map[string]map[string]string](t, string(raw))
	want := map[string]string{
		"TABLE_NAME": "steadfast-Notes", "GREETING": "hi", "AWS_ENDPOINT_URL": c.Info().AWS, "AWS_REGION": "us-east-1",
		"AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "fn-keep", "AWS_SECRET_ACCESS_KEY": "local",
	}
	if diff := cmp.Diff(want, got["Keep"]); diff != "" {
		t.Errorf("Keep (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(c.Variables(), got); diff != "" {
		t.Errorf("the file (-Variables +got):\n%s", diff)
	}
}
