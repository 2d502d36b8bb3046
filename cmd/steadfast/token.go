package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/steadfast-agents/steadfast/cmd/steadfast/internal/client"
)

// token prints a token of the dev host.
type token struct{}

// Run implements the command.
func (token) Run(c *cli, s *surroundings) error {
	ctx, done := s.context()
	defer done()
	jwt, err := client.DevToken(ctx, http.DefaultClient, c.URL, c.User)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]string{"token": jwt, "user": c.User})
	if err != nil {
		return fmt.Errorf("encode token: %w", err)
	}
	s.print(raw, "%s", jwt)
	return nil
}
