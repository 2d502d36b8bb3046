// receive-webhook takes a signed webhook of a channel in. Nothing authorizes before it: the channel verifies who sent it.
package main

import (
	"net/http"
	_ "time/tzdata" // reminders may be in any zone

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/steadfast-agents/steadfast/agent/channels"
	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/later"
	"github.com/steadfast-agents/steadfast/core/boot/secrets"
	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/entry"
	"github.com/steadfast-agents/steadfast/core/flow"
)

func main() {
	edges := boot.MustOpen(boot.Table, boot.ScheduleGroup, boot.SchedulerRole)
	set := boot.Must(edges.Log, func() (channel.Set, error) {
		return channels.Set(channels.Config{Secret: secrets.Reader(edges, edges.WebhookSecret)})
	})
	take := flow.TakeWebhook{Edges: edges.Edges, Channels: set}
	if edges.SchedulesEnabled {
		take.Alarms = later.Events(edges)
	}
	lambda.Start(entry.HTTP(edges.Log, entry.Webhook, take.Do, entry.Always[flow.WebhookOut](http.StatusAccepted)))
}
