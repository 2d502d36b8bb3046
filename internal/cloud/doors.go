package cloud

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo"
	"github.com/steadfast-agents/steadfast/internal/cloud/lambda"
	"github.com/steadfast-agents/steadfast/internal/cloud/queue"
)

// publicHandler is the door of clients: the two APIs, the user pool's documents, and /_dev for the developer. Functions
// come here too, for @connections.
func (c *Cloud) publicHandler() http.Handler {
	gateway, dev, issuer := c.guard.Middleware(c.gateway.PublicHandler()), c.devHandler(), c.issuer.Handler()
	documents := c.issuerPath()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, devPath), strings.HasPrefix(r.URL.Path, dispatchPath):
			dev.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, documents):
			issuer.ServeHTTP(w, r)
		default:
			gateway.ServeHTTP(w, r)
		}
	})
}

func (c *Cloud) issuerPath() string {
	u, err := url.Parse(c.info.Issuer)
	if err != nil {
		return "/" + localPool + "/"
	}
	return u.Path + "/.well-known/"
}

// awsHandler is the door of functions and of tools that speak to AWS services; what a function's policies do not grant
// ends here. model answers as Bedrock.
func (c *Cloud) awsHandler(model http.Handler) http.Handler {
	byTarget := map[string]http.Handler{dynamo.Target: c.tables, queue.Target: c.queues, bus.Target: c.bus, parametersTarget: http.HandlerFunc(parameters)}
	byPath := map[string]http.Handler{
		"/model/":          model,
		"/schedules":       c.scheduler,
		"/schedule-groups": c.scheduler,
		lambda.InvokePath:  c.functions.Handler(),
		customPath:         http.HandlerFunc(c.customAnswered),
		c.issuerPath():     c.issuer.Handler(),
	}
	if ws := c.stack.WebSocket; ws != nil {
		byPath["/"+ws.Stage+"/@connections/"] = c.gateway.ConnectionsHandler()
	}
	return c.guard.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if target := r.Header.Get("X-Amz-Target"); target != "" {
			service, _, _ := strings.Cut(target, ".")
			if h := byTarget[service+"."]; h != nil {
				h.ServeHTTP(w, r)
				return
			}
		}
		for prefix, h := range byPath {
			if strings.HasPrefix(r.URL.Path, prefix) {
				h.ServeHTTP(w, r)
				return
			}
		}
		c.notOffered(w, r)
	}))
}

// notOffered answers for services that the local cloud is not.
func (c *Cloud) notOffered(w http.ResponseWriter, r *http.Request) {
	what := r.Method + " " + r.URL.Path
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		what = target
	}
	c.log.Warn("not offered by the local cloud", "operation", what)
	w.Header().Set("X-Amzn-Errortype", "UnknownOperationException")
	writeJSON(w, http.StatusBadRequest, map[string]string{
		"__type": "UnknownOperationException", "message": "the local cloud does not offer " + what,
	})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that left needs no answer
}
