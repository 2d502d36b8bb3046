package cloud

import (
	"context"
	"errors"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo"
	"github.com/steadfast-agents/steadfast/internal/cloud/gateway"
	"github.com/steadfast-agents/steadfast/internal/cloud/iam"
	"github.com/steadfast-agents/steadfast/internal/cloud/identity"
	"github.com/steadfast-agents/steadfast/internal/cloud/lambda"
	"github.com/steadfast-agents/steadfast/internal/cloud/queue"
)

// startServices opens what is stored.
func (c *Cloud) startServices() error {
	var err error
	c.tables, err = dynamo.Open(dynamo.Config{
		Tables: c.stack.Tables, Region: c.stack.Region, Account: c.stack.Account, Data: c.options.Data, Log: c.log,
	})
	if err != nil {
		return err
	}
	if c.queues, err = queue.Open(queue.Config{Queues: c.stack.Queues, Data: c.options.Data, Log: c.log}); err != nil {
		return err
	}
	c.issuer, err = identity.New(identity.Options{URL: c.info.Issuer, ClientID: clientOf(c.stack), Dir: c.options.Data})
	return err
}

func (c *Cloud) startFunctions() error {
	var err error
	c.functions, err = lambda.Open(lambda.Config{
		Functions: c.stack.Functions, Dir: c.options.Dir, Cache: c.options.Cache, Data: c.options.Data,
		Region: c.stack.Region, Account: c.stack.Account, Endpoint: c.info.AWS, Env: c.options.Env,
		RetryDelays: c.options.RetryDelays,
		DeadLetter:  c.deadLetter, Log: c.log, Output: c.options.Out, Verbose: c.options.Verbose, Progress: c.options.Build,
	})
	return err
}

func (c *Cloud) startGateway() error {
	c.guard = iam.New(c.stack, c.log)
	c.gateway = &gateway.Gateway{Stack: c.stack, Invoker: c.functions, Keys: c.issuer.Key, Log: c.log}
	return nil
}

// serve opens the doors and lets kept work go on.
func (c *Cloud) serve() error {
	c.listeners.serve(c.publicHandler(), c.awsHandler(c.model), func(err error) {
		c.log.Error("a listener ended", "error", err)
	})
	c.functions.Start()
	return c.startCustoms()
}

// stopPatience is how long open requests and running functions are waited for when the caller sets no limit.
const stopPatience = 5 * time.Second

// unlessLate takes it as no error that functions still ran when the patience was over: they are as if killed, and what
// they were to do is kept where there is a data folder.
func (c *Cloud) unlessLate(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if c.late.CompareAndSwap(false, true) {
		c.log.Warn("functions were still at work at the end; on the same data folder the next start goes on with it")
	}
	return nil
}

func (c *Cloud) close(ctx context.Context) error {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, stopPatience)
		defer cancel()
	}
	var errs []error
	if c.gateway != nil {
		errs = append(errs, c.gateway.Close(ctx))
	}
	if c.functions != nil {
		errs = append(errs, c.unlessLate(c.functions.Drain(ctx)))
	}
	errs = append(errs, c.closeEvents())
	if c.functions != nil {
		errs = append(errs, c.unlessLate(c.functions.Stop(ctx)))
	}
	errs = append(errs, c.listeners.close(ctx))
	if c.tables != nil {
		errs = append(errs, c.tables.Close())
	}
	if c.queues != nil {
		errs = append(errs, c.queues.Close())
	}
	return errors.Join(append(errs, c.lock.release())...)
}
