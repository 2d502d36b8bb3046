package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/invoke"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// URLPath is where the URLs of functions are: a function's name follows, then the path that the function sees.
const URLPath = "/_url/"

// MaxURLBody is Lambda's limit of a request to a function URL, in bytes.
const MaxURLBody = 6 << 20

// streamer is what an Invoker has to be for functions that stream their answer.
type streamer interface {
	// Stream is Invoke that writes the answer to `to` as it comes, and nothing after it has returned.
	Stream(ctx context.Context, function, trigger string, payload []byte, to io.Writer) (invoke.Result, error)
}

// serveFunctionURL runs a function for a request to its own address and passes its answer on as it comes.
func (g *Gateway) serveFunctionURL(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, URLPath), "/")
	f, ok := g.functionWithURL(name)
	run, streams := g.Invoker.(streamer)
	if !ok || !streams {
		g.refuse(w, r, http.StatusNotFound, "Not Found")
		return
	}
	if corsHeaders(w.Header(), r, f.URL.CORS) && r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusOK)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxURLBody))
	if err != nil {
		g.refuseBody(w, r, err)
		return
	}
	payload, err := json.Marshal(g.urlEventOf(r, name, body))
	if prepare, ok := g.Invoker.(preparer); ok && err == nil {
		err = prepare.Prepare(r.Context(), name)
	}
	out := &relay{to: w, cors: len(f.URL.CORS.Origins) > 0}
	var result invoke.Result
	if err == nil {
		result, err = run.Stream(r.Context(), name, "URL "+r.Method, payload, out)
	}
	g.endStream(w, r, out, name, result, err)
}

func (g *Gateway) functionWithURL(name string) (sam.Function, bool) {
	for _, f := range g.Stack.Functions {
		if f.Name == name && f.URL != nil {
			return f, true
		}
	}
	return sam.Function{}, false
}

// endStream answers for a function that did not, and cuts the connection of an answer that broke off.
func (g *Gateway) endStream(w http.ResponseWriter, r *http.Request, out *relay, name string, result invoke.Result, err error) {
	if err == nil && result.FunctionError != "" {
		err = errFailed
	}
	if err == nil && !out.begun {
		err = fmt.Errorf("the answer has no head")
	}
	err = errors.Join(err, out.err)
	switch {
	case err == nil, r.Context().Err() != nil:
	case out.begun:
		g.logger().Error("a streamed answer broke off", "function", name, "error", err)
		panic(http.ErrAbortHandler)
	default:
		g.logger().Error("no usable answer", "function", name, "error", err)
		g.refuse(w, r, http.StatusBadGateway, "Internal Server Error")
	}
}

// urlEventOf describes r, whose body has been read, as a function URL does: the path is as it was sent.
func (g *Gateway) urlEventOf(r *http.Request, name string, body []byte) httpEvent {
	now := g.now()
	words, millis := clock(now)
	path := strings.TrimPrefix(r.URL.EscapedPath(), URLPath+name)
	if path == "" {
		path = "/"
	}
	e := httpEvent{
		Version: "2.0", RouteKey: "$default", RawPath: path, RawQueryString: r.URL.RawQuery,
		Cookies: cookies(r.Header), Headers: httpHeaders(r, len(body), now), Query: joined(queryOf(r)),
		Context: httpContext{
			AccountID: "anonymous", APIID: name, DomainName: r.Host, DomainPrefix: name,
			HTTP:      httpDescription{r.Method, path, r.Proto, sourceIP(r), r.UserAgent()},
			RequestID: newID(), RouteKey: "$default", Stage: "$default", Time: words, TimeEpoch: millis,
		},
	}
	e.Body, e.IsBase64Encoded = encodeBody(r.Header.Get("Content-Type"), body)
	return e
}

// relay passes a streamed answer on. Its head, JSON with status and headers, ends with eight zero bytes.
type relay struct {
	to    http.ResponseWriter
	cors  bool // the gateway sets those headers itself
	head  []byte
	begun bool
	err   error // why the answer cannot be passed on
}

var headEnd = make([]byte, 8)

// Write takes the next piece. What it says of the answer stands in err: the function must not see it.
func (r *relay) Write(piece []byte) (int, error) {
	n := len(piece)
	if !r.begun && r.err == nil {
		r.head = append(r.head, piece...)
		at := bytes.Index(r.head, headEnd)
		if at < 0 {
			return n, nil
		}
		piece = r.head[at+len(headEnd):]
		r.err = r.begin(r.head[:at])
	}
	if r.err != nil {
		return n, nil
	}
	if _, err := r.to.Write(piece); err == nil {
		_ = http.NewResponseController(r.to).Flush() // a client that left is seen by the request's context
	}
	return n, nil
}

func (r *relay) begin(head []byte) error {
	var h struct {
		StatusCode json.RawMessage            `json:"statusCode"`
		Headers    map[string]json.RawMessage `json:"headers"`
		Cookies    []string                   `json:"cookies"`
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return fmt.Errorf("the head of the answer: %w", err)
	}
	a := answer{headers: http.Header{}}
	var err error
	if a.status, err = statusOf(h.StatusCode); err == nil {
		err = a.setHeaders(h.Headers, h.Cookies)
	}
	if err != nil {
		return err
	}
	r.begun = true
	a.write(r.to, r.cors)
	return nil
}
