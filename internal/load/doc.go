// Package load holds the tests of many at once: sessions that all talk at the same time, and sockets that only listen, on the local
// cloud with the binaries that deploy. Every message that was taken must be told exactly once and answered, and every socket must be
// there at the end. `go test` runs a small slice; `make bench BENCH=Load` the whole, with its figures. The package itself is empty.
package load
