package cloud

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
	"github.com/steadfast-agents/steadfast/internal/cloud/queue"
)

// devPath is where the developer's own operations are. They hand out tokens, so nobody but this machine may ask.
const devPath = "/_dev/"

func (c *Cloud) devHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+devPath+"info", c.devInfo)
	mux.HandleFunc("POST "+devPath+"token", c.devToken)
	mux.HandleFunc("POST "+devPath+"kill", c.devKill)
	mux.HandleFunc("GET "+devPath+"failed", c.devFailed)
	mux.HandleFunc("GET "+devPath+"pending", c.devPending)
	mux.HandleFunc("GET "+devPath+"builds", c.devBuilds)
	mux.HandleFunc("GET "+devPath+"iam", c.devIAM)
	mux.HandleFunc("GET "+devPath+"events", c.devEvents)
	mux.HandleFunc("POST "+dispatchPath+"schedules/{id}", c.devRunSchedule)
	mux.HandleFunc("GET "+dispatchPath+"reminders", c.devReminders)
	mux.HandleFunc("POST "+dispatchPath+"reminders/{id}", c.devFireReminder)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fromThisMachine(r) {
			refuse(w, http.StatusForbidden, "only this machine may use "+devPath)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// fromThisMachine keeps out other machines, web pages of other origins, and names that were made to point here.
func fromThisMachine(r *http.Request) bool {
	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !isLoopback(remote) || !isLoopback(hostname(r.Host)) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && isLoopback(u.Hostname())
}

func hostname(host string) string {
	return (&url.URL{Host: host}).Hostname()
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]string{"message": message})
}

func (c *Cloud) devInfo(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, c.info) }

// devToken takes {"user", "use"} and answers {"token", "sub", "expiresIn"}; use is access, unless it is id.
func (c *Cloud) devToken(w http.ResponseWriter, r *http.Request) {
	in := struct{ User, Use string }{r.URL.Query().Get("user"), r.URL.Query().Get("use")}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&in)
	if err != nil && !errors.Is(err, io.EOF) {
		refuse(w, http.StatusBadRequest, `the body must be JSON with a "user"`)
		return
	}
	if in.User == "" || in.Use != "" && in.Use != "id" && in.Use != "access" {
		refuse(w, http.StatusBadRequest, `"user" must be a name, and "use" access or id`)
		return
	}
	token, err := c.issuer.Token(in.User, identity.TokenOptions{Use: in.Use})
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"token": token, "sub": c.issuer.Sub(in.User), "expiresIn": int(identity.TokenLife.Seconds()),
	})
}

// devKill ends all processes of ?function= and answers {"killed"}.
func (c *Cloud) devKill(w http.ResponseWriter, r *http.Request) {
	n, err := c.functions.Kill(r.URL.Query().Get("function"))
	if err != nil {
		refuse(w, http.StatusNotFound, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]int{"killed": n})
}

// devFailed lists what is in the queues, by their names: what finally could not be delivered.
func (c *Cloud) devFailed(w http.ResponseWriter, _ *http.Request) {
	out := map[string][]queue.Message{}
	for _, name := range c.queues.Names() {
		messages, err := c.queues.Messages(name)
		if err != nil {
			refuse(w, http.StatusInternalServerError, err.Error())
			return
		}
		out[name] = messages
	}
	writeJSON(w, http.StatusOK, out)
}

// devPending tells how many deliveries of events and asynchronous invocations are not finished.
func (c *Cloud) devPending(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]int{"pending": c.bus.Pending() + c.functions.Pending()})
}

// devBuilds tells which functions are being built, and which do not build, by their names, with the compiler's words.
func (c *Cloud) devBuilds(w http.ResponseWriter, _ *http.Request) {
	broken := map[string]string{}
	for function, err := range c.functions.Broken() {
		broken[function] = err.Error()
	}
	writeJSON(w, http.StatusOK, map[string]any{"building": append([]string{}, c.functions.Building()...), "broken": broken})
}

// devEvents lists the last events that the bus accepted, oldest first, only those of ?detailType= if it is given.
func (c *Cloud) devEvents(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, c.recent.list(r.URL.Query().Get("detailType")))
}

// devIAM tells which grants were used, which never, and what was denied.
func (c *Cloud) devIAM(w http.ResponseWriter, r *http.Request) {
	report := c.guard.Report()
	if r.URL.Query().Get("format") == "text" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, report.String())
		return
	}
	writeJSON(w, http.StatusOK, report)
}
