//go:build !linux

package controlplane

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
