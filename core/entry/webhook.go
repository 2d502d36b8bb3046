package entry

import (
	"encoding/base64"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/flow"
)

// Webhook decodes a webhook of the channel that its path names, with its body as it came, byte for byte. Nobody has verified who sent
// it. Faults: Invalid.
func Webhook(r Request) (flow.WebhookIn, error) {
	body := []byte(r.APIGatewayV2HTTPRequest.Body)
	if r.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(r.APIGatewayV2HTTPRequest.Body); err != nil {
			return flow.WebhookIn{}, fault.New(fault.Invalid, "body: is not valid base64")
		}
	}
	return flow.WebhookIn{Channel: r.Path("channel"), Request: channel.Request{Headers: r.Headers, Body: body}}, nil
}
