// Package bench holds the figures of the project: what a turn takes of processor, memory and table, how long functions take to
// their first answer, what their zips weigh. `make bench` writes them as text that benchstat reads; docs/benchmarks.md shows them
// beside the goals. What must not grow is a test here, not a figure. The commands below it, contender and floor, are what is
// measured from outside.
package bench
