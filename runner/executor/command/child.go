package command

import (
	"sync/atomic"
	"syscall"
	"time"
)

// The places of a slot's poll table.
const (
	fdExit = iota
	fdWake
	fdOut
	fdErr
	fdIn
	fdCount
)

// child is a process under supervision.
type child struct {
	*slot
	pid     int
	seen    int          // a member of its group that was alive when last looked at; see living
	over    *atomic.Bool // instead of a pidfd
	outW    int          // our copies of the pipes' other ends: while they are open the child's end does not wake us
	errW    int          // twice more than its pidfd does
	out     *capture
	err     *capture
	pending []byte    // of the standard input
	heard   time.Time // when it last said something
	drafts  bool      // what it says goes to the log files at once
	cage    *cage     // nil: its processes have no bounds
	talk    *talk     // nil: nobody speaks with it
	last    bool      // nothing follows what is pending
}

// round waits once, and handles what is ready. It reports whether the child has ended.
func (c *child) round(wait time.Duration) bool {
	if err := poll(c.fds[:], wait); err != nil {
		panic("command: poll: " + err.Error()) // our own descriptors: cannot be
	}
	if c.fds[fdWake].revents != 0 {
		c.woken()
		c.out.attend()
		c.err.attend()
		if c.talk != nil {
			c.pull()
		}
	}
	if c.fds[fdIn].revents != 0 {
		c.feed()
	}
	if c.fds[fdOut].revents != 0 {
		c.take(fdOut, c.out)
	}
	if c.fds[fdErr].revents != 0 {
		c.take(fdErr, c.err)
	}
	return c.fds[fdExit].revents != 0 || c.over != nil && c.over.Load()
}

// take reads once from a pipe that is ready, so it does not block.
func (c *child) take(at int, to *capture) {
	if c.fds[at].revents&pollIn == 0 { // hung up, and nothing in it
		c.drop(at)
		return
	}
	n, err := syscall.Read(int(c.fds[at].fd), c.buffer())
	switch {
	case n > 0:
		c.heard = time.Now()
		to.hear(c.buf[:n])
	case err != syscall.EINTR:
		c.drop(at)
	}
}

// feed writes to the child's standard input. A child that does not want it (EPIPE) need not have it.
func (c *child) feed() {
	if c.talk != nil && len(c.pending) == 0 { // the program closed it, for we ask for nothing else
		c.talk.refuse()
		c.drop(fdIn)
		return
	}
	n, err := syscall.Write(int(c.fds[fdIn].fd), c.pending)
	if n > 0 {
		c.pending = c.pending[n:]
	}
	if c.talk != nil && len(c.pending) == 0 && !c.last {
		c.pending, c.fds[fdIn].events = nil, 0
		return
	}
	if c.talk != nil && len(c.pending) > 0 && err != nil && err != syscall.EAGAIN && err != syscall.EINTR {
		c.talk.refuse()
	}
	if len(c.pending) == 0 || err != nil && err != syscall.EAGAIN && err != syscall.EINTR {
		c.pending = nil
		c.drop(fdIn)
	}
}

// drop closes a descriptor of the table and takes it out.
func (c *child) drop(at int) {
	if fd := c.fds[at].fd; fd >= 0 {
		syscall.Close(int(fd))
	}
	c.fds[at] = pollFd{fd: -1}
}

// signal sends to the whole group. The child is not reaped yet, so the number is ours.
func (c *child) signal(sig syscall.Signal) { syscall.Kill(-c.pid, sig) }

func (c *child) shut() {
	c.drop(fdOut)
	c.drop(fdErr)
}
