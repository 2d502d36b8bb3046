package lambda

import "syscall"

// attributes put a function into its own process group and let the kernel end it when the host dies, kill -9 included.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
