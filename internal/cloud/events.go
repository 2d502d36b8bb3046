package cloud

import (
	"errors"

	"github.com/steadfast-agents/steadfast/internal/cloud/bus"
	"github.com/steadfast-agents/steadfast/internal/cloud/scheduler"
)

// startEvents opens what makes functions run by itself. Both hand over to the functions' queue.
func (c *Cloud) startEvents() error {
	var err error
	c.bus, err = bus.Open(bus.Config{
		Stack: c.stack, Invoker: c.functions, DeadLetter: c.undelivered, Data: c.options.Data, Hold: c.holdReminder, Log: c.log,
	})
	if err != nil {
		return err
	}
	c.bus.Subscribe(c.recent.add)
	c.scheduler, err = scheduler.Open(scheduler.Config{
		Stack: c.stack, Groups: c.stack.ScheduleGroups, Invoker: c.functions, Put: c.bus.Put, DeadLetter: c.undelivered,
		FireSchedules: c.options.FireSchedules, Data: c.options.Data, Log: c.log,
	})
	return err
}

// Watch calls listen with every event that the bus accepts, until cancel, in order and by one caller at a time. It must be
// quick and must not put events itself.
func (c *Cloud) Watch(listen func(bus.Event)) (cancel func()) { return c.bus.Subscribe(listen) }

// undelivered takes what a rule or a schedule could not hand over.
func (c *Cloud) undelivered(to string, body []byte, attributes map[string]string) error {
	_, err := c.queues.Send(to, body, attributes)
	return err
}

// deadLetter takes what a function finally failed on.
func (c *Cloud) deadLetter(to string, body []byte) error { return c.undelivered(to, body, nil) }

func (c *Cloud) closeEvents() error {
	var errs []error
	if c.scheduler != nil {
		errs = append(errs, c.scheduler.Close())
	}
	if c.bus != nil {
		errs = append(errs, c.bus.Close())
	}
	return errors.Join(errs...)
}
