// Package fake holds one strict, in-process stand-in for every service outside of the process: table (Dynamo), bus (Bus),
// schedules (Scheduler), WebSocket connections (Connections), model (Model) and time (Clock). They refuse what the real
// service refuses, with its error types.
//
// Every call of a fake passes through a World, which numbers calls and can disturb one of them: the worker dies before
// or after it, its answer is lost, it fails once. Explore and ExploreSteps use that to try every point at which a flow
// can be cut off, and every order in which two workers can meet.
//
// A fake's zero value is ready to use; its exported fields are set before the first call; all methods are safe for
// concurrent use. The package is for tests alone and never for product code.
package fake
