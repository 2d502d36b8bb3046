// call-tool runs one tool of a session that is at rest, because a program asks for it and no model does.
package main

import (
	"encoding/json"
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agent"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/host"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/turn"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup, boot.SchedulerRole)
	engine := host.MustEngine(edges, agent.Content())
	if edges.SchedulesEnabled {
		engine.Alarms = later.Events(edges)
	}
	lambda.Start(entry.HTTP(edges.Log, decode, engine.Call, entry.Always[contract.ActionResult](http.StatusOK)))
}

func decode(r entry.Request) (turn.CallIn, error) {
	of, err := entry.Session(r)
	if err != nil {
		return turn.CallIn{}, err
	}
	var body contract.CallTool
	if err := r.Body(&body); err != nil {
		return turn.CallIn{}, err
	}
	in := turn.CallIn{SessionID: of.SessionID, Caller: of.Caller, Name: r.Path("name"), DeliveryID: body.DeliveryID}
	if body.Input != nil {
		in.Input, err = json.Marshal(body.Input)
	}
	return in, err
}
