package cloud

import "github.com/steadfast-agents/steadfast/internal/cloud/bus"

// startEvents opens what makes functions run by itself. It hands over to the functions' queue.
func (c *Cloud) startEvents() error {
	var err error
	c.bus, err = bus.Open(bus.Config{
		Stack: c.stack, Invoker: c.functions, DeadLetter: c.undelivered, Data: c.options.Data, Log: c.log,
	})
	return err
}

// undelivered takes an event that a rule could not hand over.
func (c *Cloud) undelivered(to string, body []byte, attributes map[string]string) error {
	_, err := c.queues.Send(to, body, attributes)
	return err
}

// deadLetter takes what a function finally failed on.
func (c *Cloud) deadLetter(to string, body []byte) error { return c.undelivered(to, body, nil) }

func (c *Cloud) closeEvents() error {
	if c.bus == nil {
		return nil
	}
	return c.bus.Close()
}
