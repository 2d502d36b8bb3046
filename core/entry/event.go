package entry

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/steadfast-agents/steadfast/core/bus"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// Details resolves fields that travelled by reference; a store.Table does.
type Details interface {
	Detail(ctx context.Context, id string) (string, error)
}

// Event makes a handler of bus events: the detail is read as an In, with fields that came by reference put back, and given to do
// with the envelope's id. An error means that the event is delivered again and, when all retries fail, ends in a queue that is
// watched.
func Event[In any](log *slog.Logger, details Details, do func(ctx context.Context, detail In, envelopeID string) error) func(context.Context, contract.RawEvent) error {
	return func(ctx context.Context, e contract.RawEvent) error {
		err := handle(ctx, details, e, do)
		if err != nil {
			note(ctx, log, "event failed", err, "detail-type", e.DetailType, "event", e.ID)
		}
		return err
	}
}

// Raw makes a handler that gets whole bus events, with their envelope: fields that came by reference are put back, and do's answer is
// the function's. An error means what it means for Event.
func Raw[Out any](log *slog.Logger, details Details, do func(ctx context.Context, e contract.RawEvent) (Out, error)) func(context.Context, contract.RawEvent) (Out, error) {
	return func(ctx context.Context, e contract.RawEvent) (out Out, err error) {
		if e.Detail, err = resolve(ctx, details, e.Detail); err == nil {
			out, err = do(ctx, e)
		}
		if err != nil {
			note(ctx, log, "event failed", err, "detail-type", e.DetailType, "event", e.ID)
		}
		return out, err
	}
}

func handle[In any](ctx context.Context, details Details, e contract.RawEvent, do func(context.Context, In, string) error) error {
	detail, err := resolve(ctx, details, e.Detail)
	if err != nil {
		return err
	}
	var in In
	if err := decode("detail", detail, &in); err != nil {
		return err
	}
	return do(ctx, in, e.ID)
}

// resolve puts fields that travelled as {field}Ref back into the detail.
func resolve(ctx context.Context, details Details, detail json.RawMessage) (json.RawMessage, error) {
	if details == nil || !strings.Contains(string(detail), `Ref"`) {
		return detail, nil
	}
	var fields map[string]json.RawMessage
	if err := decode("detail", detail, &fields); err != nil {
		return nil, err
	}
	for _, name := range bus.Referable() {
		var id string
		if json.Unmarshal(fields[name+"Ref"], &id) != nil || id == "" || fields[name] != nil {
			continue
		}
		text, err := details.Detail(ctx, id)
		if err != nil {
			return nil, fault.Wrap(fault.CodeOf(err), err, "%s", name)
		}
		fields[name] = json.RawMessage(text)
		delete(fields, name+"Ref")
	}
	whole, err := json.Marshal(fields)
	return whole, fault.Wrap(fault.Internal, err, "detail")
}
