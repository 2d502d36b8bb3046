// ws-message takes what a client sends over its socket: a message, stop, subscribe, decide, ping.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/live"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.WebSocket)
	socket := entry.Socket{
		Chat: flow.Chat{Edges: edges.Edges}, Stop: flow.Stop{Edges: edges.Edges}, Tell: live.Sockets(edges).Tell, Log: edges.Log,
	}
	lambda.Start(socket.Message)
}
