package controlplane

import "syscall"

// attributes keep a child out of the reach of Ctrl-C, so that it is stopped in its
// turn, and have the kernel kill it when this process is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
