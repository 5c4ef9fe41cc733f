package command

import (
	"syscall"
	"time"
	"unsafe"
)

// poll waits until a descriptor is ready or the time is over; a negative time is for ever. An interrupted poll is an
// early one, with nothing ready.
func poll(fds []pollFd, wait time.Duration) error {
	ms := -1
	if wait >= 0 {
		ms = int((wait + time.Millisecond - 1) / time.Millisecond)
	}
	_, _, errno := syscall.Syscall(syscall.SYS_POLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)), uintptr(ms))
	return polled(fds, errno)
}

// pipe makes a pipe that children do not inherit.
func pipe() (r, w int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		return 0, 0, err
	}
	syscall.CloseOnExec(p[0])
	syscall.CloseOnExec(p[1])
	return p[0], p[1], nil
}

// attributes are those of a child: a group or a session of its own. There is no pidfd here, and no death with the parent.
func attributes(pidfd *int, session bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !session, Setsid: session}
}

// living tells whether there is a member of the child's group, once the child is reaped. Here the dead count until they are
// reaped, which launchd does at once.
func (c *child) living() bool { return c.members() }
