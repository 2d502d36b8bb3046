// Package interop holds the tests that run Steadfast beside the TypeScript package, on one table and one bus: `steadfast dev`
// as a user starts it, and a Node program that calls the package's own functions against it. What one side wrote, the other
// side reads, continues or leaves alone, as its documents say.
//
// The tests need Node 20 or later and the package, which `make test-interop` installs from the lockfile beside the program;
// without them they are skipped, unless STEADFAST_INTEROP=1 says that they must run. The package itself is empty.
package interop
