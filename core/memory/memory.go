// Package memory keeps what agents remember of users across conversations: in Amazon Bedrock AgentCore Memory, or in the product's
// own table where there is none. A memory belongs to one verified user: its actor is made of the principal and never of anything
// that a request or a model says. The package never adds to a history and never fails a turn by itself.
package memory

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"strings"

	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// MaxRecords is the most records that one recall gives.
const MaxRecords = 10

// plain is an id that can stand in a namespace as it is. There is no '/', which would open a namespace within.
var plain = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]*$`)

// hashed marks an id that is written as its hash.
const hashed = "x-"

// safe gives an id the form that the service takes, another one for each id: as it is, or its hash.
func safe(id string, longest int) string {
	if plain.MatchString(id) && len(id) <= longest && !strings.HasPrefix(id, hashed) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hashed + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
}

// token names one turn of one conversation of one user, for a write that must happen once.
func token(actor, session string, number int64) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s%d", len(actor), actor, len(session), session, number)))
}

// query is what the model asks for.
type query struct {
	Query string `json:"query" jsonschema:"what to look for, in a few words"`
}

// found is what search_memory answers.
type found struct {
	Memories []string `json:"memories"`
}

// SearchName is the name of the tool that Search gives.
const SearchName = "search_memory"

// Search is the tool search_memory: the model looks for more than was recalled for the turn. It reads the memory it is made with and
// no other.
func Search(m loop.Memory) tool.Tool {
	return tool.ReadOnly(tool.New(SearchName, "Searches what you remember of this user from earlier conversations.",
		func(ctx tool.Context, in query) (found, error) {
			memories, err := m.Recall(ctx, in.Query)
			if memories == nil {
				memories = []string{}
			}
			return found{Memories: memories}, err
		}))
}
