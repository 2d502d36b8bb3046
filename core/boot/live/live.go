// Package live opens what posts to the connections of the WebSocket API. Only the functions that do so link its client; it posts
// nothing itself.
package live

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/socket"
)

// Sockets posts to the connections of the WebSocket API. A connection that has gone is forgotten.
func Sockets(e boot.Edges) *socket.Caster {
	config := boot.Config("APIGATEWAYMANAGEMENTAPI", e.Region)
	endpoint := e.WebSocketEndpoint
	client := apigatewaymanagementapi.NewFromConfig(config, func(o *apigatewaymanagementapi.Options) { o.BaseEndpoint = &endpoint })
	return &socket.Caster{
		Connections: client, Now: e.Now, Log: e.Log,
		Gone: func(ctx context.Context, id string) {
			if err := e.Table.Disconnect(ctx, id); err != nil {
				e.Log.WarnContext(ctx, "a connection that has gone was not forgotten", "connection", id, "error", err)
			}
		},
	}
}
