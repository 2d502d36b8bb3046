// send-message-from-event takes a message into a conversation that a first-party app sent over the bus.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agent/channels"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table)
	set := boot.Must(edges.Log, func() (channel.Set, error) { return channels.Set(channels.Config{}) })
	lambda.Start(entry.Event(edges.Log, edges.Table, flow.SendFromEvent{Edges: edges.Edges, Channels: set}.Do))
}
