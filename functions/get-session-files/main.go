// get-session-files lists the files of a session's workspace, or reads one.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agent/workspace"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	files := flow.SessionFiles{Edges: edges.Edges, Seed: workspace.Files()}
	lambda.Start(entry.Files(edges.Log, files.Do))
}
