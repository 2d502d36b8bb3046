package cloud_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/steadfast-agents/steadfast/internal/cloud"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock/openai/recorder"
)

// says asks the model of a cloud as a function does, and gives its text.
func (r *running) says(text string) string {
	r.t.Helper()
	client := bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(r.Info().AWS), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("outside", "secret", ""),
	})
	out, err := client.Converse(r.t.Context(), &bedrockruntime.ConverseInput{
		ModelId:  aws.String("us.amazon.nova-lite-v1:0"),
		Messages: []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: text}}}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.Output.(*types.ConverseOutputMemberMessage).Value.Content[0].(*types.ContentBlockMemberText).Value
}

func TestModelOfAnOpenAIServer(t *testing.T) {
	server := recorder.Start(recorder.Text("Hel", "lo"))
	defer server.Close()
	c := start(t, cloud.Options{ModelSpec: "openai:" + server.URL + "#llama3.2"})
	if got := c.says("hi"); got != "Hello" {
		t.Errorf("the model says %q", got)
	}
	if got := server.Requests()[0].Body["model"]; got != "llama3.2" {
		t.Errorf("the server was asked for %v", got)
	}
}

// TestModelOfBedrock asks the service that the user's own AWS configuration names, as the user.
func TestModelOfBedrock(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKUSER", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_BEARER_TOKEN_BEDROCK": "",
		"AWS_REGION": "us-west-2", "BEDROCK_REGION": "eu-central-1",
	} {
		t.Setenv(name, value)
	}
	var seen []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.RequestURI, r.Header.Get("Authorization"))
		(&bedrock.Server{Model: bedrock.Offline{}}).ServeHTTP(w, r)
	}))
	defer service.Close()
	t.Setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", service.URL)
	c := start(t, cloud.Options{ModelSpec: "bedrock:eu.amazon.nova-micro-v1:0"})
	if got := c.says(`say "Hello"`); got != "Hello" {
		t.Errorf("the model says %q", got)
	}
	if len(seen) != 2 || seen[0] != "/model/eu.amazon.nova-micro-v1%3A0/converse" ||
		!strings.HasPrefix(seen[1], "AWS4-HMAC-SHA256 Credential=AKUSER/") || !strings.Contains(seen[1], "/eu-central-1/bedrock/aws4_request") {
		t.Errorf("the service saw %q", seen)
	}
}

// TestModelOfBedrockIsNotThisCloud: an AWS_ENDPOINT_URL that is meant for programs would make the cloud ask itself for ever.
func TestModelOfBedrockIsNotThisCloud(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", "/nonexistent")
	free := httptest.NewServer(http.NotFoundHandler())
	address := strings.TrimPrefix(free.URL, "http://")
	free.Close()
	t.Setenv("AWS_ENDPOINT_URL", free.URL)
	_, err := cloud.Start(t.Context(), cloud.Options{Dir: project, Addr: "127.0.0.1:0", AWSAddr: address, ModelSpec: "bedrock"})
	if err == nil || !strings.Contains(err.Error(), "which is this local cloud") {
		t.Errorf("Start = %v", err)
	}
}

func TestModelsThatAreNone(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"crystal:ball", "is not known: offline, openai:<base-url>#<name> and bedrock:<id> are"},
		{"openai", "openai:<base-url>#<name> is meant"},
		{"openai:gpt-5", "openai:<base-url>#<name> is meant"},
		{"openai:http://127.0.0.1:11434/v1", "openai:<base-url>#<name> is meant"},
		{"openai:ftp://example.com#x", "openai:<base-url>#<name> is meant"},
		{"openai:http://#x", "openai:<base-url>#<name> is meant"},
	} {
		_, err := cloud.Start(t.Context(), cloud.Options{Dir: project, Addr: "127.0.0.1:0", ModelSpec: tt.spec})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.spec) {
			t.Errorf("Start with %q = %v, want %q", tt.spec, err, tt.want)
		}
	}
}
