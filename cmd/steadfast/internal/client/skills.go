package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// SkillFile is one file of a skill to send.
type SkillFile struct {
	Path  string `json:"path"`
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"base64,omitempty"`
}

// Skill is an uploaded skill, and all the stack said about it.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Digest      string `json:"digest"`
	Files       int    `json:"files"`
	Bytes       int    `json:"bytes"`
	SentAt      string `json:"sentAt"`
}

// PushSkill sends a skill, or another version of one. Idempotent.
func (c *Client) PushSkill(ctx context.Context, name string, files []SkillFile) (Skill, json.RawMessage, error) {
	raw, err := c.call(ctx, http.MethodPut, "/agent/skills/"+url.PathEscape(name), map[string]any{"files": files})
	if err != nil {
		return Skill{}, nil, err
	}
	var out Skill
	return out, raw, decode(raw, &out, "PUT /agent/skills")
}

// Skills lists what the caller has sent.
func (c *Client) Skills(ctx context.Context) ([]Skill, json.RawMessage, error) {
	raw, err := c.call(ctx, http.MethodGet, "/agent/skills", nil)
	if err != nil {
		return nil, nil, err
	}
	var out struct {
		Skills []Skill `json:"skills"`
	}
	return out.Skills, raw, decode(raw, &out, "GET /agent/skills")
}

// RemoveSkill takes a skill from the list.
func (c *Client) RemoveSkill(ctx context.Context, name string) error {
	_, err := c.call(ctx, http.MethodDelete, "/agent/skills/"+url.PathEscape(name), nil)
	return err
}
