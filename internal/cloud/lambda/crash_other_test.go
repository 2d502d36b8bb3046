//go:build !linux

package lambda_test

const killedWithParent = false
