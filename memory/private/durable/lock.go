package durable

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// LockBeat is how often a lock that another process holds is tried again.
const LockBeat = 5 * time.Millisecond

// Lock takes the flock of a file, LOCK_SH or LOCK_EX. While another process holds it, Lock waits that long, and then fails with
// syscall.EWOULDBLOCK: a process that was stopped with the lock in its hands must not hold up all others without a word.
func Lock(ctx context.Context, f *os.File, how int, wait time.Duration) error {
	due := time.Now().Add(wait)
	err := Flock(f, how|syscall.LOCK_NB)
	for errors.Is(err, syscall.EWOULDBLOCK) && time.Now().Before(due) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(LockBeat):
		}
		err = Flock(f, how|syscall.LOCK_NB)
	}
	return err
}

// Flock is flock(2), begun again after a signal.
func Flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
