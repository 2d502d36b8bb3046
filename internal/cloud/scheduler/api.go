package scheduler

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/steadfast-agents/steadfast/internal/timetable"
)

// statuses are those of the codes of refusals.
var statuses = map[string]int{
	timetable.CodeInvalid: http.StatusBadRequest, timetable.CodeMissing: http.StatusNotFound, timetable.CodeConflict: http.StatusConflict,
	unknownOperation: http.StatusNotFound,
}

const unknownOperation = "UnknownOperationException"

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
		s.answer(w, nil, &timetable.Error{Code: unknownOperation, Message: "the local scheduler does not offer " + r.Method + " " + r.URL.Path})
	})
	mux.ServeHTTP(w, r)
}

func (s *Scheduler) answer(w http.ResponseWriter, out any, err error) {
	status := http.StatusOK
	if err != nil {
		var e *timetable.Error
		if !errors.As(err, &e) {
			s.cfg.Log.Error("scheduler failed", "error", err)
			e = &timetable.Error{Code: "InternalServerException", Message: "the local scheduler failed; its log says why"}
		}
		w.Header().Set("X-Amzn-Errortype", e.Code)
		out, status = map[string]string{"Message": e.Message}, cmp.Or(statuses[e.Code], http.StatusInternalServerError)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // the client is gone: nothing to tell it
}

func read(r *http.Request) (timetable.Definition, error) {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 2<<20))
	if err != nil {
		return timetable.Definition{}, timetable.Invalid("the request is too large, or was cut off")
	}
	var d timetable.Definition
	if err := json.Unmarshal(b, &d); err != nil {
		return timetable.Definition{}, timetable.Invalid("the request is not valid: %v", err)
	}
	d.Name = r.PathValue("name")
	return d, nil
}

func (s *Scheduler) create(r *http.Request) (any, error) {
	return s.change(r, func(d timetable.Definition) (*timetable.Schedule, bool, error) { return s.all.Create(d, s.cfg.Now()) })
}

func (s *Scheduler) update(r *http.Request) (any, error) {
	return s.change(r, func(d timetable.Definition) (one *timetable.Schedule, again bool, err error) {
		one, err = s.all.Update(d, s.cfg.Now())
		return one, false, err
	})
}

// change makes or replaces a schedule; put says whether it is as it was.
func (s *Scheduler) change(r *http.Request, put func(timetable.Definition) (one *timetable.Schedule, again bool, err error)) (any, error) {
	d, err := read(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	one, position, err := s.place(d, put)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return map[string]string{"ScheduleArn": s.arn(one.Definition)}, s.journal.Wait(position)
}

func (s *Scheduler) place(d timetable.Definition, put func(timetable.Definition) (*timetable.Schedule, bool, error)) (*timetable.Schedule, int64, error) {
	if old, err := s.all.Find(d.GroupName, d.Name); err == nil && s.own[old] {
		return nil, 0, ofTemplate(d.Name)
	}
	one, again, err := put(d)
	if err != nil || again {
		return one, s.journal.Position(), err
	}
	return one, s.append(record{Put: &one.Definition}), nil
}

func ofTemplate(name string) error {
	return timetable.Invalid("The schedule %s belongs to the template.", name)
}

func (s *Scheduler) get(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.all.Find(r.URL.Query().Get("groupName"), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	shown := one.Definition
	shown.ClientToken = ""
	return struct {
		timetable.Definition
		Arn                                string
		CreationDate, LastModificationDate timetable.Epoch
		Created, Modified                  *int `json:",omitempty"` // hide those of the definition
	}{Definition: shown, Arn: s.arn(shown), CreationDate: timetable.At(shown.Created), LastModificationDate: timetable.At(shown.Modified)}, nil
}

func (s *Scheduler) delete(r *http.Request) (any, error) {
	s.mu.Lock()
	one, err := s.all.Find(r.URL.Query().Get("groupName"), r.PathValue("name"))
	if err == nil && s.own[one] {
		err = ofTemplate(one.Name)
	}
	position := s.journal.Position()
	if err == nil {
		s.all.Remove(one.ID())
		position = s.append(record{Delete: one.ID()})
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.journal.Wait(position)
}
