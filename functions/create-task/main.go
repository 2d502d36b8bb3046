// create-task starts a task for the verified caller and, if asked, waits a while for its result.
package main

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	create := flow.CreateTask{Edges: edges.Edges, Grants: flow.ParseGrants(edges.SystemTaskPrincipals), MCPHosts: edges.MCPAllowedHosts}
	lambda.Start(entry.HTTP(edges.Log, decode, entry.Wire(create.Do), status))
}

func decode(r entry.Request) (in flow.CreateTaskIn, err error) {
	caller, err := r.Caller()
	if err != nil {
		return in, err
	}
	var body struct {
		Request    string                        `json:"request"`
		SessionID  string                        `json:"sessionId"`
		System     string                        `json:"system"`
		MCPServers map[string]contract.MCPServer `json:"mcpServers"`
		Wait       bool                          `json:"wait"`
	}
	err = r.Body(&body)
	return flow.CreateTaskIn{
		Caller: caller.ID, Request: body.Request, SessionID: body.SessionID, System: body.System, MCPServers: body.MCPServers, Wait: body.Wait,
	}, err
}

// status tells a caller who waited whether the result is there.
func status(r contract.TaskResult) int {
	if r.Status == "COMPLETED" || r.Status == "FAILED" {
		return http.StatusOK
	}
	return http.StatusAccepted
}
