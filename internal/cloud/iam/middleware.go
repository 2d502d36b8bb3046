package iam

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// maxBody is more than any service takes; the service refuses what lies between.
const maxBody = 20 << 20

// Middleware lets calls through to next that their caller may make, and answers the others with AccessDeniedException
// in the form of their service. What it does not know as an AWS call goes through.
func (g *Guard) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		function, ok := Caller(r)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "the request is too large, or was cut off", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		for _, n := range g.needs(r, body) {
			if err := g.Check(function, n.action, n.resource); err != nil {
				refuse(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// need is one permission that a request takes.
type need struct{ action, resource string }

func (g *Guard) needs(r *http.Request, body []byte) []need {
	service, operation, ok := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if !ok {
		return g.restNeeds(r, body)
	}
	switch service {
	case "DynamoDB_20120810":
		return g.tableNeeds(operation, body)
	case "AWSEvents":
		return g.busNeeds(operation, body)
	case "AmazonSSM":
		return g.parameterNeeds(operation, body)
	case "AmazonSQS":
		return g.queueNeeds(operation, body)
	}
	return nil
}

func (g *Guard) arn(service, rest string) string {
	return "arn:aws:" + service + ":" + g.stack.Region + ":" + g.stack.Account + ":" + rest
}

// refuse answers as the service would: JSON services with 400 and a type in the body, REST ones with 403 and a header.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	var denied *Denied
	if !errors.As(err, &denied) {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	code, status := "AccessDeniedException", http.StatusForbidden
	body := map[string]string{"message": denied.Error(), "Message": denied.Error()}
	if r.Header.Get("X-Amz-Target") != "" {
		status = http.StatusBadRequest
		body = map[string]string{"__type": "com.amazon.coral.service#" + code, "Message": denied.Error()}
	} else if strings.HasPrefix(denied.Action, "execute-api:") {
		code = "ForbiddenException"
	}
	b, merr := json.Marshal(body)
	if merr != nil {
		http.Error(w, merr.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", code)
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client is gone: nothing to tell it
}
