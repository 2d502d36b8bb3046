package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/steadfast-agents/steadfast/core/contract"
)

// Files lists the files of a session, also as the stack sent it.
func (c *Client) Files(ctx context.Context, sessionID string) (contract.SessionFiles, json.RawMessage, error) {
	var all contract.SessionFiles
	raw, err := c.call(ctx, http.MethodGet, filesPath(sessionID), nil)
	if err != nil {
		return all, nil, err
	}
	return all, raw, decode(raw, &all, "GET .../files")
}

// File gives the text of one.
func (c *Client) File(ctx context.Context, sessionID, path string) (string, error) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	text, err := c.call(ctx, http.MethodGet, filesPath(sessionID)+"/"+strings.Join(parts, "/"), nil)
	return string(text), err
}

func filesPath(sessionID string) string {
	return "/agent/sessions/" + url.PathEscape(sessionID) + "/files"
}
