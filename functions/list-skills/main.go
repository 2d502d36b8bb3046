// list-skills lists the skills that the caller has sent.
package main

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/upload"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	list := upload.List{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, entry.Request.Caller, list.Do, entry.Always[upload.ListOut](http.StatusOK)))
}
