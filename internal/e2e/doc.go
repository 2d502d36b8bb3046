// Package e2e holds the tests of the whole stack: the function binaries that deploy, started from template.yaml by the
// local cloud, used as a client, an outside program and an operator use them. Nothing is replaced but the model, and time:
// where a test says that an hour has gone by, it has moved the times of one row into the past (SOAK=1 waits
// instead: give it -timeout 90m).
//
// After the whole suite the template is held against what was used: a function was denied nothing, and is granted nothing
// that no test has used (STEADFAST_IAM names a file for the whole book).
//
// Tests look at what anybody outside could see: answers, WebSocket messages, events on the bus, log lines, rows of the
// table. The package itself is empty.
package e2e
