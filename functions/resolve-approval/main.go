// resolve-approval takes a person's verdict about a call that waits for one.
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
	approvals := flow.Approvals{Edges: edges.Edges}
	lambda.Start(entry.HTTP(edges.Log, decode, approvals.Decide, entry.Always[contract.Approval](http.StatusOK)))
}

func decode(r entry.Request) (flow.DecideIn, error) {
	of, err := entry.Session(r)
	if err != nil {
		return flow.DecideIn{}, err
	}
	var body contract.DecideApproval
	err = r.Body(&body)
	return flow.DecideIn{SessionID: of.SessionID, ActionID: r.Path("actionId"), Caller: of.Caller, Verdict: body.Decision, Reason: body.Reason}, err
}
