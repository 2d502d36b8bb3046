package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// Approvals lists the calls of a session that people were asked about, the oldest first, also as the stack sent it.
func (c *Client) Approvals(ctx context.Context, sessionID string) (contract.Approvals, json.RawMessage, error) {
	var all contract.Approvals
	raw, err := c.call(ctx, http.MethodGet, "/agent/sessions/"+url.PathEscape(sessionID)+"/approvals", nil)
	if err != nil {
		return all, nil, err
	}
	return all, raw, decode(raw, &all, "GET .../approvals")
}

// Decide records what the caller says about a call that waits. The same again is answered the same; another verdict about a call that
// is decided is an *Error with code already_decided.
func (c *Client) Decide(ctx context.Context, sessionID, actionID string, d contract.DecideApproval) (contract.Approval, json.RawMessage, error) {
	var a contract.Approval
	raw, err := c.call(ctx, http.MethodPost, "/agent/sessions/"+url.PathEscape(sessionID)+"/approvals/"+url.PathEscape(actionID), d)
	if err != nil {
		return a, nil, err
	}
	return a, raw, decode(raw, &a, "POST .../approvals")
}
