package scheduler

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"time"
)

// apiError is an answer other than success.
type apiError struct {
	code, message string
	status        int
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

func invalid(format string, args ...any) error {
	return &apiError{"ValidationException", fmt.Sprintf(format, args...), http.StatusBadRequest}
}

func constraint(field, value, what string) error {
	return invalid("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", value, field, what)
}

func missing(kind, name string) error {
	return &apiError{"ResourceNotFoundException", kind + " " + name + " does not exist.", http.StatusNotFound}
}

func conflict(kind, name string) error {
	return &apiError{"ConflictException", kind + " " + name + " already exists.", http.StatusConflict}
}

// ServeHTTP answers one call of the REST API.
func (s *Scheduler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	for pattern, op := range map[string]func(*http.Request) (any, error){
		"POST /schedules/{name}":         s.create,
		"PUT /schedules/{name}":          s.update,
		"GET /schedules/{name}":          s.get,
		"DELETE /schedules/{name}":       s.delete,
		"GET /schedules":                 s.list,
		"POST /schedule-groups/{name}":   s.createGroup,
		"GET /schedule-groups/{name}":    s.getGroup,
		"DELETE /schedule-groups/{name}": s.deleteGroup,
		"GET /schedule-groups":           s.listGroups,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			out, err := op(r)
			s.answer(w, out, err)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, nil, &apiError{"UnknownOperationException", "the local scheduler does not offer " + r.Method + " " + r.URL.Path, http.StatusNotFound})
	})
	mux.ServeHTTP(w, r)
}

func (s *Scheduler) answer(w http.ResponseWriter, out any, err error) {
	status := http.StatusOK
	if err != nil {
		var e *apiError
		if !errors.As(err, &e) {
			s.cfg.Log.Error("scheduler failed", "error", err)
			e = &apiError{"InternalServerException", "the local scheduler failed; its log says why", http.StatusInternalServerError}
		}
		w.Header().Set("X-Amzn-Errortype", e.code)
		out, status = map[string]string{"Message": e.message}, e.status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // the client is gone: nothing to tell it
}

func read(r *http.Request) (Definition, error) {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 2<<20))
	if err != nil {
		return Definition{}, invalid("the request is too large, or was cut off")
	}
	var d Definition
	if err := json.Unmarshal(b, &d); err != nil {
		return Definition{}, invalid("the request is not valid: %v", err)
	}
	d.Name = r.PathValue("name")
	return d.withDefaults(), nil
}

func (s *Scheduler) create(r *http.Request) (any, error) {
	d, err := read(r)
	if err != nil {
		return nil, err
	}
	one, err := d.check(s.cfg.Now())
	if err != nil {
		return nil, err
	}
	return s.change(one, func(old *schedule) error {
		if old == nil {
			return nil
		}
		if d.ClientToken != "" && d.sameAs(old.Definition) {
			return errAgain
		}
		return conflict("Schedule", d.Name)
	})
}

// errAgain marks a repetition that changes nothing.
var errAgain = errors.New("the same request was done before")

// sameAs compares what callers give.
func (d Definition) sameAs(o Definition) bool {
	d.Created, d.Modified, o.Created, o.Modified = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return reflect.DeepEqual(d, o)
}

// update replaces the whole schedule: what the request leaves out goes back to its default.
func (s *Scheduler) update(r *http.Request) (any, error) {
	d, err := read(r)
	if err != nil {
		return nil, err
	}
	one, err := d.check(s.cfg.Now())
	if err != nil {
		return nil, err
	}
	return s.change(one, func(old *schedule) error {
		if old == nil {
			return missing("Schedule", d.Name)
		}
		return nil
	})
}

// change puts the schedule in the place of the one with its name, if allowed says so.
func (s *Scheduler) change(one *schedule, allowed func(old *schedule) error) (any, error) {
	s.mu.Lock()
	position, err := s.place(one, allowed)
	s.mu.Unlock()
	if err != nil && !errors.Is(err, errAgain) {
		return nil, err
	}
	return map[string]string{"ScheduleArn": s.arn(one.Definition)}, s.journal.Wait(position)
}

func (s *Scheduler) place(one *schedule, allowed func(old *schedule) error) (int64, error) {
	position := s.journal.Position()
	if _, ok := s.groups[one.GroupName]; !ok {
		return position, missing("Schedule group", one.GroupName)
	}
	old := s.all[one.id()]
	if err := allowed(old); err != nil {
		return position, err
	}
	now := s.cfg.Now().UTC()
	one.Created, one.Modified = now, now
	if old != nil {
		if old.own {
			return position, invalid("The schedule %s belongs to the template.", one.Name)
		}
		one.Created = old.Created
	}
	one.advance(now)
	s.all[one.id()] = one
	return s.append(record{Put: &one.Definition}), nil
}

func groupOf(r *http.Request) string {
	if g := r.URL.Query().Get("groupName"); g != "" {
		return g
	}
	return defaultGroup
}

func (s *Scheduler) get(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[groupOf(r)+"/"+r.PathValue("name")]
	if !ok {
		return nil, missing("Schedule", r.PathValue("name"))
	}
	shown := one.Definition
	shown.ClientToken = ""
	return struct {
		Definition
		Arn                                string
		CreationDate, LastModificationDate Epoch
		Created, Modified                  *int `json:",omitempty"` // hide those of the definition
	}{Definition: shown, Arn: s.arn(shown), CreationDate: epoch(shown.Created), LastModificationDate: epoch(shown.Modified)}, nil
}

func (s *Scheduler) delete(r *http.Request) (any, error) {
	id := groupOf(r) + "/" + r.PathValue("name")
	s.mu.Lock()
	one, ok := s.all[id]
	position := s.journal.Position()
	if ok && !one.own {
		delete(s.all, id)
		position = s.append(record{Delete: id})
	}
	s.mu.Unlock()
	switch {
	case !ok:
		return nil, missing("Schedule", r.PathValue("name"))
	case one.own:
		return nil, invalid("The schedule %s belongs to the template.", one.Name)
	}
	return struct{}{}, s.journal.Wait(position)
}
