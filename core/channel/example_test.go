package channel_test

import (
	"context"
	"fmt"
	"time"

	"github.com/steadfast-agents/steadfast/core/channel"
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/task"
)

// comment is what an issue tracker sends.
type comment struct {
	Issue, ID, Text string
}

// A channel makes messages of what another system sends: one conversation for each issue, a comment is sent once however often it comes.
func ExampleChannel() {
	secret := func(context.Context) ([]byte, error) { return []byte("a secret of 16 bytes or more"), nil }
	tracker := channel.Channel{
		ID:     "tracker",
		Verify: channel.Signed(secret, task.System("tracker")),
		Route: func(ctx channel.Context, r channel.Request) error {
			c, err := channel.Decode[comment](r)
			if err != nil {
				return err
			}
			_, err = ctx.Send(contract.Message{Text: c.Text, ContinuationToken: c.Issue, DeliveryID: c.ID})
			return err
		},
	}
	// What the tracker does:
	body, now := []byte(`{"issue":"7","id":"c-1","text":"It is broken."}`), time.Now()
	header, err := channel.Sign([]byte("a secret of 16 bytes or more"), body, now)
	if err != nil {
		fmt.Println(err)
	}
	webhook := channel.Request{Headers: map[string]string{"steadfast-signature": header}, Body: body, At: now}
	// What the function receive-webhook does with it:
	who, err := tracker.Verify(context.Background(), webhook)
	fmt.Println(who.ID, err)
	send := func(m contract.Message) (contract.Delivery, error) {
		fmt.Printf("%s, about %s: %q\n", m.DeliveryID, m.ContinuationToken, m.Text)
		return contract.Delivery{DeliveryID: m.DeliveryID}, nil
	}
	ctx := channel.NewContext(channel.Context{Context: context.Background(), Principal: who}, send)
	fmt.Println(tracker.Route(ctx, webhook))
	// Output:
	// tracker <nil>
	// c-1, about 7: "It is broken."
	// <nil>
}

// A signature holds for the body it was made for, and for five minutes.
func ExampleVerify() {
	secret, body, now := []byte("a secret of 16 bytes or more"), []byte(`{"text":"hi"}`), time.Unix(1767607200, 0)
	header, err := channel.Sign(secret, body, now)
	fmt.Println(header[:13], err)
	fmt.Println(channel.Verify(secret, body, header, now.Add(time.Minute)))
	fmt.Println(fault.ReasonOf(channel.Verify(secret, []byte(`{"text":"ho"}`), header, now)))
	fmt.Println(fault.ReasonOf(channel.Verify(secret, body, header, now.Add(time.Hour))))
	// Output:
	// t=1767607200, <nil>
	// <nil>
	// bad_signature
	// old_signature
}
