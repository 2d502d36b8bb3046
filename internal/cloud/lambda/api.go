package lambda

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// InvokePath is the path of Lambda's Invoke operation.
const InvokePath = "/2015-03-31/functions/"

// Handler serves Lambda's Invoke operation for programs outside: RequestResponse, Event and DryRun. name may be an ARN.
func (h *Host) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+InvokePath+"{name}/invocations", h.serveInvoke)
	return mux
}

func (h *Host) serveInvoke(w http.ResponseWriter, r *http.Request) {
	name := lastPart(r.PathValue("name"))
	if _, ok := h.pools[name]; !ok {
		decline(w, http.StatusNotFound, "ResourceNotFoundException", "Function not found: "+functionARN(h.config.Region, h.config.Account, name))
		return
	}
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxSync))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		decline(w, status, "RequestTooLargeException", fmt.Sprintf("the payload is at most %d bytes", MaxSync))
		return
	}
	switch kind := r.Header.Get("X-Amz-Invocation-Type"); kind {
	case "", "RequestResponse":
		h.serveSync(w, r, name, payload)
	case "Event":
		h.serveAsync(w, r, name, payload)
	case "DryRun":
		w.WriteHeader(http.StatusNoContent)
	default:
		decline(w, http.StatusBadRequest, "InvalidParameterValueException", fmt.Sprintf("invocation type %q", kind))
	}
}

func (h *Host) serveSync(w http.ResponseWriter, r *http.Request, name string, payload []byte) {
	result, err := h.Invoke(r.Context(), name, "lambda invoke", payload)
	if err != nil {
		decline(w, http.StatusInternalServerError, "ServiceException", err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amz-Executed-Version", "$LATEST")
	if result.FunctionError != "" {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
	}
	_, _ = w.Write(result.Payload) // a caller that left needs no answer
}

func (h *Host) serveAsync(w http.ResponseWriter, r *http.Request, name string, payload []byte) {
	if len(payload) > MaxAsync {
		decline(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException", fmt.Sprintf("the payload is at most %d bytes", MaxAsync))
		return
	}
	if err := h.Enqueue(r.Context(), name, "lambda invoke", payload); err != nil {
		decline(w, http.StatusInternalServerError, "ServiceException", err.Error())
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// decline answers with an error in the shape of AWS's REST services.
func decline(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", kind)
	w.WriteHeader(status)
	body, err := json.Marshal(map[string]string{"Type": "User", "Message": message})
	if err == nil {
		_, _ = w.Write(body)
	}
}
