package executor

import (
	"context"
	"errors"
	"syscall"
	"time"
)

const (
	// scarceFirst and scarceMost are the shortest and the longest pause before a thing that failed for want of file descriptors
	// is tried again. scarceWait is how long whoever is next does so.
	scarceFirst = 5 * time.Millisecond
	scarceMost  = time.Second
	scarceWait  = time.Hour
	// scarceTell is how long nobody is told of it.
	scarceTell = 3 * time.Second
)

// next is held by the one in the process that tries again. If all did, each would take what another lacks.
var next = make(chan struct{}, 1)

// Scarce tells whether something failed because the process or the system has no file descriptor left (or, at a fork, no
// process): the attempts that hold them end, and then it works.
func Scarce(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EAGAIN)
}

// UntilPlenty does something again while it fails for want of file descriptors, so that attempts wait and do not fail when
// there are more of them than the system carries. What fails must hold none. They take turns; whoever has waited
// [scarceWait] at the head of the queue, or whose ctx is done, gives up with the last error. tell, if set, hears once why it takes so
// long.
func UntilPlenty(ctx context.Context, tell func(error), do func() error) error {
	err := do()
	if !Scarce(err) {
		return err
	}
	select {
	case next <- struct{}{}:
		defer func() { <-next }()
	case <-ctx.Done():
		return err
	}
	began := time.Now()
	due := began.Add(scarceWait)
	for pause := scarceFirst; Scarce(err) && time.Now().Before(due); pause = min(2*pause, scarceMost) {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
		if tell != nil && time.Since(began) > scarceTell {
			tell(err)
			tell = nil
		}
		err = do()
	}
	return err
}
