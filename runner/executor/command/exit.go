package command

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// noPidfd makes a test do without pidfds.
var noPidfd bool

// watchExit tells a slot of the end of a process where there is no pidfd to poll: on macOS and old kernels. It does not reap,
// so that the process id, and with it the group's, stays taken until the group is killed. It costs a goroutine and a
// thread while the process lives.
func watchExit(pid int, s *slot) *atomic.Bool {
	over := new(atomic.Bool)
	go func() {
		waitNoReap(pid)
		over.Store(true)
		s.wake()
	}()
	return over
}

// waitNoReap returns when the process has ended. It is waitid(P_PID, pid, WEXITED|WNOWAIT), whose numbers for the first
// argument are the same on Linux and macOS.
func waitNoReap(pid int) {
	const pPid = 1
	var siginfo [16]uint64 // 128 bytes, more than any system's
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPid, uintptr(pid), uintptr(unsafe.Pointer(&siginfo[0])),
			syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// reap collects a process that has ended. used, if not nil, is what the process has used.
func reap(pid int, used *syscall.Rusage) (status syscall.WaitStatus) {
	for {
		if _, err := syscall.Wait4(pid, &status, 0, used); err != syscall.EINTR {
			return status
		}
	}
}
