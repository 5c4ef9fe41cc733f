package command

import (
	"sync"
	"sync/atomic"
	"syscall"
)

// slot is what one attempt at a time needs and the next can use again: a pipe that wakes its poll, the poll's table,
// a buffer to read into. There are as many as attempts have ever been under way at once.
type slot struct {
	place int           // its number
	group *atomic.Int32 // where the guardian looks for the group of the child; may be nil
	wakeR int
	buf   []byte // made at the first byte that a child says
	fds   [fdCount]pollFd

	mu    sync.Mutex
	wakeW int // -1 once closed; a late wake must not write to a descriptor that means something else by now
}

// readSize is how much is read at once: what a Linux pipe holds.
const readSize = 64 << 10

// noSlot is why there is no slot to be had.
type noSlot struct{ error }

func (n noSlot) Unwrap() error { return n.error }

// slot takes an idle slot or makes one.
func (x *Executor) slot() (*slot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.null < 0 {
		fd, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		x.null = fd
		if x.opt.Adopt {
			orphans.adopt()
		}
	}
	if err := x.guard.start(x.opt.Guardian); err != nil {
		return nil, err
	}
	if n := len(x.idle); n > 0 {
		s := x.idle[n-1]
		x.idle = x.idle[:n-1]
		return s, nil
	}
	r, w, err := pipe()
	if err != nil {
		return nil, err
	}
	syscall.SetNonblock(r, true)
	syscall.SetNonblock(w, true)
	s := &slot{wakeR: r, wakeW: w, place: x.place()}
	s.group = x.guard.group(s.place)
	return s, nil
}

// discard gives up a slot whose descriptors others need more.
func (x *Executor) discard(s *slot) {
	s.close()
	x.mu.Lock()
	x.places = append(x.places, s.place)
	x.mu.Unlock()
}

// place is a number for a slot that no other has, as small as can be.
func (x *Executor) place() int {
	if n := len(x.places); n > 0 {
		p := x.places[n-1]
		x.places = x.places[:n-1]
		return p
	}
	x.slots++
	return x.slots - 1
}

func (x *Executor) release(s *slot) {
	x.mu.Lock()
	x.idle = append(x.idle, s)
	x.mu.Unlock()
}

// wake ends the slot's poll. It may come late, even in another attempt's time: whoever wakes looks for the reason.
func (s *slot) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wakeW >= 0 {
		syscall.Write(s.wakeW, []byte{0}) // if the pipe is full, the poll is awake already
	}
}

// woken takes what wake left.
func (s *slot) woken() {
	var b [16]byte
	syscall.Read(s.wakeR, b[:])
}

func (s *slot) buffer() []byte {
	if s.buf == nil {
		s.buf = make([]byte, readSize)
	}
	return s.buf
}

func (s *slot) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	syscall.Close(s.wakeR)
	syscall.Close(s.wakeW)
	s.wakeW = -1
}
