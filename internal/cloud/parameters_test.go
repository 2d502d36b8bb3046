package cloud

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestParameters: every name has a value of its own, long enough to sign with; what is not offered says so.
func TestParameters(t *testing.T) {
	ask := func(operation, body string) (int, string) {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header.Set("X-Amz-Target", parametersTarget+operation)
		w := httptest.NewRecorder()
		parameters(w, r)
		return w.Code, w.Body.String()
	}
	tests := []struct {
		operation, body string
		status          int
		want            string
	}{
		{"GetParameter", `{"Name":"/a","WithDecryption":true}`, 200, `"Value":"local secret of /a"`},
		{"GetParameter", `{}`, 400, "a name is needed"},
		{"PutParameter", `{"Name":"/a"}`, 400, "does not offer"},
	}
	for _, tt := range tests {
		if status, got := ask(tt.operation, tt.body); status != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s %s = %d %s", tt.operation, tt.body, status, got)
		}
	}
}
