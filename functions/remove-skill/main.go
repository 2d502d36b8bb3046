// remove-skill takes a skill from the caller's list. Sessions that have it keep it.
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
	remove := upload.Remove{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, decode, remove.Do, entry.Always[struct{}](http.StatusNoContent)))
}

func decode(r entry.Request) (in upload.RemoveIn, err error) {
	in.Name = r.Path("name")
	in.Caller, err = r.Caller()
	return in, err
}
