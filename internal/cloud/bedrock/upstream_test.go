package bedrock_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// service is Bedrock as the user has it: it keeps what comes, checks the signature as AWS does, and answers with model.
type service struct {
	t     *testing.T
	owner aws.Credentials
	model bedrock.Responder

	paths  []string
	bodies []string
	auths  []string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.paths, s.bodies, s.auths = append(s.paths, r.RequestURI), append(s.bodies, string(body)), append(s.auths, r.Header.Get("Authorization"))
	if want := s.signature(r, body); strings.HasPrefix(r.Header.Get("Authorization"), "AWS4") && r.Header.Get("Authorization") != want {
		s.t.Errorf("Authorization = %s\nwant            %s", r.Header.Get("Authorization"), want)
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "Amz-Sdk") || strings.HasPrefix(name, "X-Forwarded") {
			s.t.Errorf("the header %s of the function's request came too", name)
		}
	}
	(&bedrock.Server{Model: s.model}).ServeHTTP(w, r)
}

// signature signs the request again, as it came.
func (s *service) signature(r *http.Request, body []byte) string {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return "none: " + err.Error()
	}
	again, err := http.NewRequestWithContext(context.Background(), r.Method, "http://"+r.Host+r.RequestURI, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{"Content-Type", "Accept", "Accept-Encoding"} {
		if v := r.Header.Get(name); v != "" {
			again.Header.Set(name, v)
		}
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(context.Background(), s.owner, again, hex.EncodeToString(sum[:]), "bedrock", "eu-west-1", at); err != nil {
		s.t.Fatal(err)
	}
	return again.Header.Get("Authorization")
}

// through starts the service, an upstream to it that edit may change, and a client of the upstream.
func through(t *testing.T, model bedrock.Responder, edit func(*bedrock.Upstream)) (*service, *bedrockruntime.Client) {
	t.Helper()
	s := &service{t: t, model: model, owner: aws.Credentials{AccessKeyID: "AKUSER", SecretAccessKey: "secret", SessionToken: "session"}}
	there := httptest.NewServer(s)
	t.Cleanup(there.Close)
	endpoint, err := url.Parse(there.URL)
	if err != nil {
		t.Fatal(err)
	}
	u := &bedrock.Upstream{
		Endpoint: endpoint, Region: "eu-west-1",
		Credentials: credentials.NewStaticCredentialsProvider(s.owner.AccessKeyID, s.owner.SecretAccessKey, s.owner.SessionToken),
	}
	if edit != nil {
		edit(u)
	}
	here := httptest.NewServer(u)
	t.Cleanup(here.Close)
	return s, bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: &here.URL, RetryMaxAttempts: 1, HTTPClient: boot.Steady(http.DefaultClient),
		Credentials: credentials.NewStaticCredentialsProvider("function", "secret", ""),
	})
}

// TestUpstream: a request goes on to the service, signed as the user, and its answer comes back.
func TestUpstream(t *testing.T) {
	for _, tt := range []struct{ name, asked, modelID, path string }{
		{"the request's own model", arn, "", "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.amazon.nova-lite-v1%3A0/converse-stream"},
		{"the user's model", "us.amazon.nova-lite-v1:0", "eu.anthropic.claude-haiku-4-5-20251001-v1:0", "/model/eu.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse-stream"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, c := through(t, &bedrock.Script{Replies: []bedrock.Reply{bedrock.Say("Hel", "lo")}}, func(u *bedrock.Upstream) { u.ModelID = tt.modelID })
			got, err := events(t, c, &bedrockruntime.ConverseStreamInput{ModelId: &tt.asked, Messages: ask("<hello> é")})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"start assistant", "text Hel", "text lo", "end block", "stop end_turn", "usage"}, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{tt.path}, s.paths); diff != "" {
				t.Errorf("path (-want +got):\n%s", diff)
			}
			if want := `{"messages":[{"content":[{"text":"<hello> é"}],"role":"user"}]}`; s.bodies[0] != want {
				t.Errorf("body = %s, want %s", s.bodies[0], want)
			}
			if !strings.HasPrefix(s.auths[0], "AWS4-HMAC-SHA256 Credential=AKUSER/") {
				t.Errorf("Authorization = %s", s.auths[0])
			}
		})
	}
}

func TestUpstreamWhole(t *testing.T) {
	_, c := through(t, &bedrock.Script{Replies: []bedrock.Reply{bedrock.Say("Hello")}}, nil)
	out, err := c.Converse(t.Context(), &bedrockruntime.ConverseInput{ModelId: aws.String("m"), Messages: ask("hi")})
	if err != nil || out.StopReason != "end_turn" {
		t.Errorf("Converse = %+v, %v", out, err)
	}
}

// TestUpstreamStreams: a piece is here before the service has said the next.
func TestUpstreamStreams(t *testing.T) {
	gate := make(gated)
	_, c := through(t, gate, nil)
	out, err := c.ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"), Messages: ask("hi")})
	if err != nil {
		t.Fatal(err)
	}
	defer out.GetStream().Close()
	for e := range out.GetStream().Events() {
		if line(e) == "text first piece" {
			close(gate)
		}
	}
	select {
	case <-gate:
	default:
		t.Error("the first piece did not come")
	}
}

func TestUpstreamEndsWithItsClient(t *testing.T) {
	ended := make(endless, 1)
	_, c := through(t, ended, nil)
	ctx, cancel := context.WithCancel(t.Context())
	out, err := c.ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"), Messages: ask("hi")})
	if err != nil {
		t.Fatal(err)
	}
	<-out.GetStream().Events()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the service's request ended with %v", err)
	}
	_ = out.GetStream().Close()
}

func TestUpstreamFailures(t *testing.T) {
	none := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("no profile")
	})
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	nowhere, err := url.Parse(away.URL)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		edit  func(*bedrock.Upstream)
		reply bedrock.Reply
		want  string
		holds string
	}{
		{"the service refuses", nil, bedrock.Reply{&bedrock.Error{Type: "ThrottlingException", Message: "Too many requests"}}, "ThrottlingException", "Too many requests"},
		{"the service ends in mid-stream", nil, append(bedrock.Say("x"), &bedrock.Error{Type: "ModelStreamErrorException", Message: "broken"}), "ModelStreamErrorException", "broken"},
		{"no credentials", func(u *bedrock.Upstream) { u.Credentials = none }, nil, "AccessDeniedException", "no AWS credentials for the model: no profile"},
		{"no service", func(u *bedrock.Upstream) { u.Endpoint = nowhere }, nil, "ServiceUnavailableException", nowhere.Host},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, c := through(t, &bedrock.Script{Replies: []bedrock.Reply{tt.reply}}, tt.edit)
			_, err := events(t, c, &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"), Messages: ask("hi")})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.holds) {
				t.Errorf("error = %v, want %s with %q", err, tt.want, tt.holds)
			}
		})
	}
}

// TestUpstreamWithAPIKey sends the key as it is, and signs nothing.
func TestUpstreamWithAPIKey(t *testing.T) {
	s, c := through(t, &bedrock.Script{Replies: []bedrock.Reply{bedrock.Say("x")}}, func(u *bedrock.Upstream) { u.APIKey, u.Credentials = "ABSK", nil })
	if _, err := events(t, c, &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m"), Messages: ask("hi")}); err != nil {
		t.Fatal(err)
	}
	if s.auths[0] != "Bearer ABSK" {
		t.Errorf("Authorization = %q", s.auths[0])
	}
}

func TestUpstreamKnowsOnlyModels(t *testing.T) {
	u := &bedrock.Upstream{}
	for _, r := range []struct{ method, path string }{{"GET", "/model/m/converse"}, {"POST", "/model/m"}, {"POST", "/model/m/converse/x"}} {
		w := httptest.NewRecorder()
		u.ServeHTTP(w, httptest.NewRequest(r.method, r.path, strings.NewReader("{}")))
		if w.Code != 404 || w.Header().Get("X-Amzn-Errortype") != "UnknownOperationException" {
			t.Errorf("%s %s = %d %v", r.method, r.path, w.Code, w.Header())
		}
	}
}
