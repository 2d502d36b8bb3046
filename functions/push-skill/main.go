// push-skill takes a skill that the caller sends, or another version of one, for sessions of the caller's that begin later.
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
	push := upload.Push{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, decode, push.Do, entry.Always[upload.Listed](http.StatusOK)))
}

func decode(r entry.Request) (in upload.PushIn, err error) {
	if in.Caller, err = r.Caller(); err != nil {
		return in, err
	}
	var body struct {
		Files []upload.File `json:"files"`
	}
	if err := r.BodyUpTo(upload.MaxBody, &body); err != nil {
		return in, err
	}
	in.Name, in.Files = r.Path("name"), body.Files
	return in, nil
}
