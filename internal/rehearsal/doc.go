// Package rehearsal holds the tests that treat the project as a deployment does. SAM's own tools check the template and build the
// functions; what comes out is measured, and runs under AWS's own emulator of the Lambda runtime, bare and in the containers of
// `sam local`, against a `steadfast dev` that knows nothing of the tests.
//
// The tests need tools that are not Go: `make test-aws` and `make test-sam-local` install them beside the project's caches and say
// by STEADFAST_SAM, STEADFAST_RIE and STEADFAST_CONTAINERS which tests must run. Without these variables they are skipped. They
// call nothing in AWS, and the package itself is empty.
package rehearsal
