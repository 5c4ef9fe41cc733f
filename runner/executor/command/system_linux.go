package command

import (
	"syscall"
	"time"
	"unsafe"
)

// poll waits until a descriptor is ready or the time is over; a negative time is for ever. An interrupted poll is an
// early one, with nothing ready.
func poll(fds []pollFd, wait time.Duration) error {
	var ts *syscall.Timespec
	if wait >= 0 {
		t := syscall.NsecToTimespec(int64(wait))
		ts = &t
	}
	// ppoll and not poll: arm64 has no other.
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)),
		uintptr(unsafe.Pointer(ts)), 0, 0, 0)
	return polled(fds, errno)
}

// pipe makes a pipe that children do not inherit.
func pipe() (r, w int, err error) {
	var p [2]int
	err = syscall.Pipe2(p[:], syscall.O_CLOEXEC)
	return p[0], p[1], err
}

// attributes are those of a child: a group or a session of its own, death with the thread that started it, a pidfd (-1 if the
// kernel has none; since Linux 5.2).
func attributes(pidfd *int, session bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !session, Setsid: session, Pdeathsig: syscall.SIGKILL, PidFD: pidfd}
}
