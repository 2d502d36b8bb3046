package bedrock

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Upstream is an http.Handler that passes requests on to Amazon Bedrock, signed anew, and its answers back, byte for byte: what
// the service refuses, it refuses in its own words. It is safe for concurrent use.
type Upstream struct {
	Endpoint    *url.URL // of the service
	Region      string
	Credentials aws.CredentialsProvider
	APIKey      string         // a Bedrock API key, in place of Credentials
	ModelID     string         // of every request; empty: the request's own
	Client      aws.HTTPClient // nil: http.DefaultClient
	Log         *slog.Logger   // nil: discard. Refusals and failures at warn level
}

// ServeHTTP passes one request on.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, operation, ok := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/model/"), "/")
	if !ok || r.Method != http.MethodPost || strings.Contains(operation, "/") {
		writeError(w, &Error{Type: "UnknownOperationException", Message: "There is no operation " + r.Method + " " + r.URL.Path})
		return
	}
	if u.ModelID != "" {
		id = strings.ReplaceAll(url.PathEscape(u.ModelID), ":", "%3A")
	}
	proxy := httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { u.rewrite(p.Out, "/model/"+id+"/"+operation) },
		Transport:      transport(u.send),
		FlushInterval:  -1, // each piece of a stream at once
		ModifyResponse: u.note,
		ErrorHandler:   u.failed,
		ErrorLog:       slog.NewLogLogger(u.log().Handler(), slog.LevelWarn),
	}
	proxy.ServeHTTP(w, r)
}

// transport is a function as an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// rewrite leaves of the request what the service is to see.
func (u *Upstream) rewrite(r *http.Request, escapedPath string) {
	target := *u.Endpoint
	target.RawPath = strings.TrimSuffix(target.EscapedPath(), "/") + escapedPath
	target.Path, _ = url.PathUnescape(target.RawPath) // it was parsed before
	r.URL, r.Host = &target, target.Host
	header := http.Header{}
	for _, name := range []string{"Content-Type", "Accept", "User-Agent"} {
		if v := r.Header.Get(name); v != "" {
			header.Set(name, v)
		}
	}
	header.Set("Accept-Encoding", "identity") // answers are passed on as they are
	r.Header = header
}

// send signs and sends.
func (u *Upstream) send(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, MaxBody))
	if err != nil {
		return nil, invalid("Input is too long for requested model.")
	}
	r = r.Clone(r.Context())
	r.RequestURI = "" // a client's request has none
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if err := u.sign(r, body); err != nil {
		return nil, &Error{Type: "AccessDeniedException", Message: "There are no AWS credentials for the model: " + err.Error()}
	}
	if u.Client == nil {
		return http.DefaultClient.Do(r)
	}
	return u.Client.Do(r)
}

func (u *Upstream) sign(r *http.Request, body []byte) error {
	if u.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+u.APIKey)
		return nil
	}
	credentials, err := u.Credentials.Retrieve(r.Context())
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	return v4.NewSigner().SignHTTP(r.Context(), credentials, r, hex.EncodeToString(sum[:]), "bedrock", u.Region, time.Now())
}

// note logs what the service refuses: it says what the user's account lacks.
func (u *Upstream) note(resp *http.Response) error {
	if resp.StatusCode >= 400 {
		start, _ := io.ReadAll(io.LimitReader(resp.Body, 2000)) // what cannot be read now fails again below
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(start), resp.Body), resp.Body}
		u.log().Warn("Bedrock refused", "status", resp.StatusCode, "type", resp.Header.Get("X-Amzn-Errortype"), "body", string(start))
	}
	return nil
}

// failed answers for a service that could not be asked.
func (u *Upstream) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody waits
	}
	e := &Error{Type: "ServiceUnavailableException", Message: fmt.Sprintf("%s cannot be reached: %v", u.Endpoint.Host, err)}
	if own := new(Error); errors.As(err, &own) {
		e = own
	}
	u.log().Warn("model request failed", "error", e)
	writeError(w, e)
}

func (u *Upstream) log() *slog.Logger { return logOr(u.Log) }
