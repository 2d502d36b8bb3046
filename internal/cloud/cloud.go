// Package cloud is the local cloud behind `steadfast dev`: it reads template.yaml and is, in one process, the AWS that
// the template needs. The services are packages of their own below this one; here they are put together, once.
//
// It declares nothing: routes, rules, schedules, tables and permissions are those of the template. It reaches functions
// only through their deployed interfaces, and never listens beyond the loopback interface unless it is told to.
package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo"
	"github.com/steadfast-agents/steadfast/internal/cloud/gateway"
	"github.com/steadfast-agents/steadfast/internal/cloud/iam"
	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
	"github.com/steadfast-agents/steadfast/internal/cloud/lambda"
	"github.com/steadfast-agents/steadfast/internal/cloud/queue"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
	"github.com/steadfast-agents/steadfast/internal/cloud/scheduler"
)

// DefaultAddr is where the HTTP and WebSocket APIs are unless Options say otherwise.
const DefaultAddr = "127.0.0.1:8787"

// Options say what to run and where. The zero value runs the template of the working directory, in memory.
type Options struct {
	Dir     string // project root, with template.yaml and go.mod; default "."
	Addr    string // of the HTTP and WebSocket APIs; default DefaultAddr, port 0 for any
	AWSAddr string // of the AWS services; default any free port of the loopback interface
	Data    string // folder in which everything survives a restart; empty: in memory
	Cache   string // folder of the built functions; default: the user's cache

	InfoFile      string                       // where Info is written as JSON once all is ready; empty: nowhere
	EnvFile       string                       // where Variables are written as JSON once all is ready; empty: nowhere
	Verbose       bool                         // show what functions print; otherwise only when one failed
	FireSchedules bool                         // also fire cron schedules; the sweep and one-time schedules always fire
	Parameters    map[string]string            // of the template
	Preferred     map[string]string            // of the template, where Parameters says nothing; a name that it does not have is passed over
	Env           map[string]map[string]string // function -> variables laid over the template's
	ModelSpec     string                       // the model behind Bedrock; see docs/models.md. Empty or "offline": the offline model
	Model         bedrock.Responder            // in place of ModelSpec
	RetryDelays   []time.Duration              // before retries of asynchronous invocations; default 1 s and 2 s

	Log   *slog.Logger       // nil: plain lines to Out
	Out   io.Writer          // for lines and the output of functions; nil: nowhere
	Build func(lambda.Build) // progress of builds; nil: to Log
}

// Info is what a program outside needs to know.
type Info struct {
	HTTP   string `json:"http"`   // base of the HTTP API
	WS     string `json:"ws"`     // address of the WebSocket API
	Stream string `json:"stream"` // base of the streams of sessions, without a slash at the end
	AWS    string `json:"aws"`    // endpoint of the AWS services
	Table  string `json:"table"`  // name of the first table
	Bus    string `json:"bus"`    // name of the bus that the rules listen on
	Issuer string `json:"issuer"` // of the tokens
	Region string `json:"region"`
	Model  string `json:"model,omitempty"` // id of the model that the functions ask by default
}

// Cloud is a running local cloud. Make one with Start; all methods are safe for concurrent use.
type Cloud struct {
	options   Options
	log       *slog.Logger
	lock      *lock
	listeners *listeners
	stack     *sam.Stack
	info      Info

	tables    *dynamo.Front
	queues    *queue.Service
	issuer    *identity.Issuer
	functions *lambda.Host
	bus       *bus.Bus
	recent    recent
	scheduler *scheduler.Scheduler
	gateway   *gateway.Gateway
	model     http.Handler // answers as Bedrock
	guard     *iam.Guard

	once   sync.Once
	late   atomic.Bool // functions still ran at the end
	closed error
}

// Start brings everything up and returns when it serves; functions are built later, on their first use. ctx bounds
// the start only. Whatever has begun is ended again when it fails. A second cloud on the same folder or address is
// one clear error.
func Start(ctx context.Context, o Options) (*Cloud, error) {
	c := &Cloud{options: o.withDefaults()}
	c.log = c.options.Log
	for _, step := range []func() error{
		c.open, c.load, c.loadModel, c.startServices, c.startFunctions, c.startEvents, c.startGateway, ctx.Err, c.serve, c.announce,
	} {
		if err := step(); err != nil {
			return nil, errors.Join(fmt.Errorf("start the local cloud: %w", err), c.Close(context.Background()))
		}
	}
	return c, nil
}

func (o Options) withDefaults() Options {
	if o.Dir == "" {
		o.Dir = "."
	}
	if o.Addr == "" {
		o.Addr = DefaultAddr
	}
	if o.AWSAddr == "" {
		o.AWSAddr = "127.0.0.1:0"
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Log == nil {
		o.Log = slog.New(newConsole(o.Out))
	}
	return o
}

// Info tells where everything is.
func (c *Cloud) Info() Info { return c.info }

// Token signs a token for user, whom it does not need to know.
func (c *Cloud) Token(user string) (string, error) {
	return c.issuer.Token(user, identity.TokenOptions{})
}

// Build builds the named functions, or all, instead of waiting for their first use.
func (c *Cloud) Build(ctx context.Context, functions ...string) error {
	return c.functions.Build(ctx, functions...)
}

// Kill ends every process of function as kill -9 does and tells how many there were.
func (c *Cloud) Kill(function string) (int, error) { return c.functions.Kill(function) }

// IAMReport tells which grants of the template were used so far, which never, and what was denied.
func (c *Cloud) IAMReport() iam.Report { return c.guard.Report() }

// open takes the data folder and the addresses.
func (c *Cloud) open() error {
	var err error
	if c.options.Data != "" {
		if c.lock, err = takeLock(c.options.Data); err != nil {
			return err
		}
	}
	c.listeners, err = listen(c.options.Addr, c.options.AWSAddr)
	return err
}

func (c *Cloud) load() error {
	var err error
	c.stack, err = sam.Load(filepath.Join(c.options.Dir, "template.yaml"), sam.Inputs{
		Parameters: c.options.Parameters, Preferred: c.options.Preferred, Defaults: devParameters(), Rewrite: c.listeners.rewrite,
	})
	if err != nil {
		return err
	}
	c.info = Info{
		HTTP: c.listeners.publicURL, AWS: c.listeners.awsURL, Region: c.stack.Region, Bus: busOf(c.stack),
		Issuer: issuerOf(c.stack, c.listeners.publicURL),
	}
	if ws := c.stack.WebSocket; ws != nil {
		c.info.WS = "ws" + c.listeners.publicURL[len("http"):] + "/" + ws.Stage
	}
	for _, f := range c.stack.Functions {
		c.info.Model = cmp.Or(c.info.Model, f.Env["BEDROCK_MODEL_ID"])
		if f.URL != nil {
			c.info.Stream = strings.TrimSuffix(c.listeners.rewrite(f.URL.Address), "/")
		}
	}
	if len(c.stack.Tables) > 0 {
		c.info.Table = c.stack.Tables[0].Name
	}
	return nil
}

// Close ends everything in order: sockets, what runs, what makes things run, the doors, what is stored. It waits for
// running functions until ctx is over, 5 s when ctx has no deadline. May be called twice.
func (c *Cloud) Close(ctx context.Context) error {
	c.once.Do(func() { c.closed = c.close(ctx) })
	return c.closed
}
