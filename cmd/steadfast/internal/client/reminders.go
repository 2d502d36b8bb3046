package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/steadfast-agents/steadfast/core/contract"
)

func remindersPath(sessionID, reminderID, purpose string) string {
	path := "/agent/sessions/" + url.PathEscape(sessionID) + "/reminders"
	if reminderID != "" {
		path += "/" + url.PathEscape(reminderID)
	}
	if purpose != "" {
		path += "?" + url.Values{"purpose": {purpose}}.Encode()
	}
	return path
}

// Reminders lists a session's reminders, those for a purpose if it is not "", also as the stack sent it.
func (c *Client) Reminders(ctx context.Context, sessionID, purpose string) (all contract.Reminders, raw json.RawMessage, err error) {
	return c.remindersAt(ctx, remindersPath(sessionID, "", purpose))
}

// DevReminders lists the reminders of all sessions at the dev host at base.
func DevReminders(ctx context.Context, base string) (all contract.Reminders, raw json.RawMessage, err error) {
	return (&Client{URL: base}).remindersAt(ctx, "/dev/reminders")
}

func (c *Client) remindersAt(ctx context.Context, path string) (all contract.Reminders, raw json.RawMessage, err error) {
	if raw, err = c.call(ctx, http.MethodGet, path, nil); err != nil {
		return all, nil, err
	}
	return all, raw, decode(raw, &all, "GET "+path)
}

// Remind makes a reminder in a session. The same key again is the same reminder.
func (c *Client) Remind(ctx context.Context, sessionID string, in contract.RemindRequest) (r contract.Reminder, raw json.RawMessage, err error) {
	if raw, err = c.call(ctx, http.MethodPost, remindersPath(sessionID, "", ""), in); err != nil {
		return r, nil, err
	}
	return r, raw, decode(raw, &r, "POST .../reminders")
}

// CancelReminder cancels one.
func (c *Client) CancelReminder(ctx context.Context, sessionID, reminderID string) error {
	_, err := c.call(ctx, http.MethodDelete, remindersPath(sessionID, reminderID, ""), nil)
	return err
}

// CancelReminders cancels all of a session, or those for a purpose, and says how many.
func (c *Client) CancelReminders(ctx context.Context, sessionID, purpose string) (n int, raw json.RawMessage, err error) {
	var out struct{ Cancelled int }
	if raw, err = c.call(ctx, http.MethodDelete, remindersPath(sessionID, "", purpose), nil); err != nil {
		return 0, nil, err
	}
	err = decode(raw, &out, "DELETE .../reminders")
	return out.Cancelled, raw, err
}

// FireReminder fires a reminder at the dev host at base: its next firing comes now.
func FireReminder(ctx context.Context, base, reminderID string) (fired contract.ReminderFired, raw json.RawMessage, err error) {
	path := "/dev/reminders/" + url.PathEscape(reminderID)
	if raw, err = (&Client{URL: base}).call(ctx, http.MethodPost, path, nil); err != nil {
		return fired, nil, err
	}
	return fired, raw, decode(raw, &fired, "POST "+path)
}
