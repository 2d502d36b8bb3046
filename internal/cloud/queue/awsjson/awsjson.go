// Package awsjson is the AWS JSON protocol as the small local services speak it: a target header names the operation,
// body and answer are JSON, errors carry a qualified type. It knows no service.
package awsjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// Error is an answer other than success. The zero Status is 400, or 500 for the code InternalFailure.
type Error struct {
	Code, Message string
	Status        int
	QueryCode     string // what older clients know the error as, for the X-Amzn-Query-Error header; empty: none
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Errorf is an error of that code.
func Errorf(code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Protocol is what a service's answers have in common.
type Protocol struct {
	ContentType string // for example application/x-amz-json-1.1
	Namespace   string // before the # of an error's type; may be empty
	MaxBody     int64  // bytes of a request
}

// Operation answers one request.
type Operation func(r *http.Request, body []byte) (any, error)

// Serve runs the operation that the X-Amz-Target header names after its dot. Errors that are not an *Error are answered as
// InternalFailure with status 500, without their text.
func (p Protocol) Serve(w http.ResponseWriter, r *http.Request, operations map[string]Operation) {
	_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	op, ok := operations[name]
	if !ok {
		p.Answer(w, nil, Errorf("UnknownOperationException", "the local service does not offer %q", name))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, p.MaxBody))
	if err != nil {
		p.Answer(w, nil, &Error{Code: "RequestEntityTooLarge", Message: "the request is too large, or was cut off", Status: http.StatusRequestEntityTooLarge})
		return
	}
	out, err := op(r, body)
	p.Answer(w, out, err)
}

// Decode reads a request body; fields that into lacks are ignored, as AWS does.
func Decode(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return Errorf("SerializationException", "%v", err)
	}
	return nil
}

// Answer writes a result or an error.
func (p Protocol) Answer(w http.ResponseWriter, out any, err error) {
	h := w.Header()
	h.Set("X-Amzn-Requestid", uuid.NewString())
	status := http.StatusOK
	if err != nil {
		e := asError(err)
		status = e.status()
		kind := e.Code
		if p.Namespace != "" {
			kind = p.Namespace + "#" + e.Code
		}
		out = map[string]string{"__type": kind, "message": e.Message}
		if e.QueryCode != "" {
			h.Set("X-Amzn-Query-Error", e.QueryCode+";Sender")
		}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		http.Error(w, "the answer cannot be written", http.StatusInternalServerError)
		return
	}
	h.Set("Content-Type", p.ContentType)
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // the client is gone: nothing to tell it
}

func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: "InternalFailure", Message: "the local service failed; its log says why"}
}

func (e *Error) status() int {
	switch {
	case e.Status != 0:
		return e.Status
	case e.Code == "InternalFailure":
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}
