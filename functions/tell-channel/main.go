// tell-channel gives an event of a session to its channel, and again later when the channel cannot take it now.
package main

import (
	"context"
	_ "time/tzdata" // reminders may be in any zone

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agent/channels"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/boot/secrets"
	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup, boot.SchedulerRole)
	set := boot.Must(edges.Log, func() (channel.Set, error) {
		return channels.Set(channels.Config{Secret: secrets.Reader(edges, edges.WebhookSecret), URL: edges.WebhookURL})
	})
	tell := flow.TellChannel{Edges: edges.Edges, Channels: set, Later: later.Events(edges)}
	if edges.SchedulesEnabled {
		tell.Alarms = later.Events(edges)
	}
	lambda.Start(entry.Event(edges.Log, edges.Table, func(ctx context.Context, e contract.AgentSessionEvent, _ string) error {
		return tell.Do(ctx, e)
	}))
}
