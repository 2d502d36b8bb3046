package cloud

// startEvents opens what invokes functions by itself.
func (c *Cloud) startEvents() error { return nil }

// deadLetter takes what a function finally failed on.
func (c *Cloud) deadLetter(to string, body []byte) error {
	_, err := c.queues.Send(to, body, nil)
	return err
}

func (c *Cloud) closeEvents() error { return nil }
