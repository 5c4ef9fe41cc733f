package command

import "syscall"

// pollFd is struct pollfd, the same on Linux and macOS. A negative fd is passed over.
type pollFd struct {
	fd      int32
	events  int16
	revents int16
}

const (
	pollIn  = 0x1
	pollOut = 0x4
)

// polled reads the outcome of a poll: one that was interrupted, or had no memory, found nothing.
func polled(fds []pollFd, errno syscall.Errno) error {
	switch errno {
	case 0:
		return nil
	case syscall.EINTR, syscall.EAGAIN, syscall.ENOMEM:
		for i := range fds {
			fds[i].revents = 0
		}
		return nil
	}
	return errno
}
