//go:build unix && !linux

package lambda

import "syscall"

// attributes put a function into its own process group. When the host dies without a word, the function ends by itself
// at its next question for work, which nobody answers.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
