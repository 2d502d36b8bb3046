package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// RunSchedule fires a schedule at the dev host at base. It answers when the firing is claimed, or its handler has returned.
func RunSchedule(ctx context.Context, base, scheduleID string) (ran contract.ScheduleRan, raw json.RawMessage, err error) {
	path := "/dev/schedules/" + url.PathEscape(scheduleID)
	raw, err = (&Client{URL: base}).call(ctx, http.MethodPost, path, nil)
	if err != nil {
		return ran, nil, err
	}
	return ran, raw, decode(raw, &ran, "POST "+path)
}
