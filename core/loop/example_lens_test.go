package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/steadfast-agents/steadfast/core/loop"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

// press stands in for a model: by the system prompt it is a reviewer of one kind.
type press struct{}

func (press) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	call := func(name, input string) []model.Event {
		return []model.Event{model.ToolStart{ID: "c1", Name: name}, model.ToolInput{JSON: input}, model.Stop{Reason: model.StopToolUse}}
	}
	var events []model.Event
	switch last := req.Messages[len(req.Messages)-1]; {
	case strings.Contains(req.System, "grammar"):
		events = call(loop.AnswerTool, `{"suggestions":[{"span":"teh","fix":"the"}]}`)
	case strings.Contains(req.System, "fact") && len(last.Results()) == 0:
		events = call("search_blog", `{"query":"launch date"}`)
	case strings.Contains(req.System, "fact"):
		events = call(loop.AnswerTool, fmt.Sprintf(`{"claims":[{"claim":"launched in May","source":%q}]}`, last.Results()[0].Content[0].Text))
	default:
		events = call(loop.AnswerTool, fmt.Sprintf(`{"verdict":"revise","reason":"the lenses found %d things"}`, strings.Count(last.PlainText(), `"fix"`)+strings.Count(last.PlainText(), `"claim"`)))
	}
	return func(yield func(model.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Grammar is what the grammar lens answers with.
type Grammar struct {
	Suggestions []struct {
		Span string `json:"span" jsonschema:"the words as they stand"`
		Fix  string `json:"fix" jsonschema:"what should stand there"`
	} `json:"suggestions"`
}

// Facts is what the fact lens answers with.
type Facts struct {
	Claims []struct {
		Claim  string `json:"claim"`
		Source string `json:"source,omitempty"`
	} `json:"claims"`
}

// Summary is what the editor answers with.
type Summary struct {
	Verdict string `json:"verdict" enum:"publish,revise"`
	Reason  string `json:"reason"`
}

const draft = "Teh product launched in May."

// One lens: a value of a type, checked against its schema, and no prose to parse.
func ExampleRunInto() {
	res, err := loop.RunInto[Grammar](context.Background(), loop.Once{
		Model: press{}, Input: draft, SystemPrompt: "You review grammar and spelling.",
	})
	fmt.Println(res.Output.Suggestions[0].Fix, res.Structured, err)
	// Output: the true <nil>
}

// searchBlog takes from the model what to look for, and from the caller whose posts.
func searchBlog() tool.Tool {
	type query struct {
		Query string `json:"query"`
	}
	return tool.ReadOnly(tool.New("search_blog", "Searches the tenant's own posts.", func(ctx tool.Context, in query) (string, error) {
		tenant, err := tool.State[string](ctx)
		return tenant + "/2026-05-04", err
	}))
}

// A lens with a tool. Whose posts are searched is the caller's word: the model can neither see nor set it.
func ExampleRunInto_tools() {
	res, err := loop.RunInto[Facts](context.Background(), loop.Once{
		Model: press{}, Input: draft, SystemPrompt: "You check every fact with search_blog.",
		Tools: []tool.Tool{tool.RetryReads(searchBlog(), 0, 0)}, MaxIterations: 6, State: "acme",
	})
	fmt.Println(res.Output.Claims[0].Source, res.Steps, err)
	// Output: acme/2026-05-04 2 <nil>
}

// Several lenses at once, then an editor who reads what they found. The first lens that fails ends the others.
func ExampleRunInto_lenses() {
	lenses, ctx := errgroup.WithContext(context.Background())
	var grammar loop.Result[Grammar]
	var facts loop.Result[Facts]
	lenses.Go(func() (err error) {
		grammar, err = loop.RunInto[Grammar](ctx, loop.Once{Model: press{}, Input: draft, SystemPrompt: "You review grammar and spelling."})
		return err
	})
	lenses.Go(func() (err error) {
		facts, err = loop.RunInto[Facts](ctx, loop.Once{Model: press{}, Input: draft, SystemPrompt: "You check every fact with search_blog.", Tools: []tool.Tool{searchBlog()}, MaxIterations: 6, State: "acme"})
		return err
	})
	if err := lenses.Wait(); err != nil {
		fmt.Println(err)
		return
	}
	found, err := json.Marshal(map[string]any{"grammar": grammar.Output, "facts": facts.Output})
	if err != nil {
		fmt.Println(err)
		return
	}
	summary, err := loop.RunInto[Summary](context.Background(), loop.Once{Model: press{}, Input: string(found), SystemPrompt: "You are the editor."})
	fmt.Println(summary.Output.Verdict+":", summary.Output.Reason, err)
	// Output: revise: the lenses found 2 things <nil>
}

// A run without a valid answer says where the last one did not fit.
func ExampleStructuredOutputError() {
	_, err := loop.RunInto[Summary](context.Background(), loop.Once{Model: press{}, Input: draft, SystemPrompt: "You review grammar and spelling."})
	var invalid *loop.StructuredOutputError
	if errors.As(err, &invalid) {
		fmt.Println(invalid.Attempts, invalid.Paths())
	}
	// Output: 3 [verdict reason suggestions]
}
