//go:build race

package turn_test

// Under the race detector everything takes ten times as long; the same runs come without it.
const checks = "150"
