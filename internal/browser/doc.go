// Package browser holds the tests of the JavaScript client in docs/client: in Node against a stack that says what a script tells it
// to, in Node against `steadfast dev` as a user starts it, and as the example page in headless Chromium against the same. What is
// shown has to be what is stored, whatever becomes of sockets and workers meanwhile.
//
// The tests need Node 20 or later and two packages, which `make test-browser` installs from the lockfile beside the programs;
// without them they are skipped, unless STEADFAST_BROWSER=1 says that they must run. Without Chromium (STEADFAST_CHROMIUM, or one in
// the PATH) the page is skipped. The package itself is empty.
package browser
