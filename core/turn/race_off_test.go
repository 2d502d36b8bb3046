//go:build !race

package turn_test

// checks is how many random stories a test tells.
const checks = "2000"
