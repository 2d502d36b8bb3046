package lambda_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

func TestInvokeOperation(t *testing.T) {
	h := open(t, nil)
	server := httptest.NewServer(h.Handler())
	defer server.Close()
	mark := filepath.Join(t.TempDir(), "mark")
	tests := []struct {
		name, function, kind, payload string
		status                        int
		want                          string // in the answer
		failed                        string // X-Amz-Function-Error
	}{
		{"waits", "probe", "", `{"text":"hi"}`, 200, `"text":"hi"`, ""},
		{"arn", "arn:aws:lambda:us-east-1:000000000000:function:probe", "RequestResponse", `{}`, 200, `"pid"`, ""},
		{"fails", "probe", "", `{"do":"fail","text":"no"}`, 200, `"errorMessage":"no"`, "Unhandled"},
		{"does not wait", "probe", "Event", `{"do":"touch","text":"` + mark + `"}`, 202, "", ""},
		{"dry", "probe", "DryRun", `{}`, 204, "", ""},
		{"unknown", "nobody", "", `{}`, 404, "Function not found", ""},
		{"other type", "probe", "Later", `{}`, 400, "Later", ""},
		{"too large", "probe", "Event", strings.Repeat(" ", 1_048_577), 413, "1048576 bytes", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/2015-03-31/functions/"+tc.function+"/invocations", strings.NewReader(tc.payload))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Amz-Invocation-Type", tc.kind)
			w, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Body.Close()
			body, err := io.ReadAll(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			if w.StatusCode != tc.status || !strings.Contains(string(body), tc.want) || w.Header.Get("X-Amz-Function-Error") != tc.failed {
				t.Errorf("= %d %s %q, want %d %q", w.StatusCode, body, w.Header.Get("X-Amz-Function-Error"), tc.status, tc.want)
			}
		})
	}
	eventually(t, "the asynchronous one to run", exists(mark))
}
