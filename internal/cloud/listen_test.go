package cloud

import (
	"net"
	"testing"
)

func TestRewrite(t *testing.T) {
	l := &listeners{publicURL: "http://127.0.0.1:8787"}
	tests := []struct{ in, want string }{
		{"https://cognito-idp.us-east-1.amazonaws.com/us-east-1_local", "http://127.0.0.1:8787/us-east-1_local"},
		{"https://websocketapi.execute-api.us-east-1.amazonaws.com/live", "http://127.0.0.1:8787/live"},
		{"https://httpapi.execute-api.eu-west-1.amazonaws.com", "http://127.0.0.1:8787"},
		{"https://follow.lambda-url.us-east-1.on.aws/", "http://127.0.0.1:8787/_url/follow/"},
		{"https://follow.lambda-url.us-east-1.on.aws.attacker.example/", "https://follow.lambda-url.us-east-1.on.aws.attacker.example/"},
		{"https://example.com/execute-api.us-east-1.amazonaws.com", "https://example.com/execute-api.us-east-1.amazonaws.com"},
		{"https://x.execute-api.us-east-1.amazonaws.com.attacker.example/", "https://x.execute-api.us-east-1.amazonaws.com.attacker.example/"},
		{"arn:aws:lambda:us-east-1:1:function:f", "arn:aws:lambda:us-east-1:1:function:f"},
		{"", ""},
	}
	for _, tc := range tests {
		if got := l.rewrite(tc.in); got != tc.want {
			t.Errorf("rewrite(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestURLOfEveryInterface(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := urlOf(l), "http://127.0.0.1:"+port; got != want {
		t.Errorf("urlOf = %q, want %q", got, want)
	}
}
