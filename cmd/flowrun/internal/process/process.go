// Package process is about this process itself: the signals that end it, its garbage collector, and its own file.
//
// It knows no command, no run and no screen. What always holds: a signal ends the process within a bound, whatever the process waits for.
// Enter at [UntilSignal] and [CollectWithin].
package process

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
)

// Interrupted is the cause of a context that a signal cancelled.
type Interrupted struct{ Signal os.Signal }

func (i *Interrupted) Error() string { return "stopped by " + i.Signal.String() }

// UntilSignal returns a context that the first signal cancels. A second signal ends the process at
// once: children die with it if the system supports that, and the run stays resumable.
func UntilSignal(say func(string)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := stopSignals()
	go func() {
		first, open := <-signals
		if !open {
			return
		}
		say("flowrun: stopping (press again to stop at once)")
		cancel(&Interrupted{first})
		defer exitAfter(stopLimit, first)()
		if second, open := <-signals; open {
			os.Exit(SignalCode(second))
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}

// Limits of the duration of a stop. If the disk, or another process that holds the store's lock,
// keeps this process from ending, this process still handles a signal; the run stays resumable.
const (
	stopLimit = 2 * engine.DefaultStopGrace // for attempts, and for the writes that record their ends
	lookLimit = time.Second                 // where nothing has to be put in order
)

// exitAfter ends the process with a signal's exit code, unless the returned function is called
// before.
func exitAfter(limit time.Duration, sig os.Signal) func() {
	t := time.AfterFunc(limit, func() { os.Exit(SignalCode(sig)) })
	return func() { t.Stop() }
}

// stopSignals returns a channel for the signals that ask a process to end. The channel holds two at
// most.
func stopSignals() chan os.Signal {
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup and shells that start things in the background mean it
			signal.Notify(signals, s)
		}
	}
	return signals
}

// UntilSignalLooking returns a context that a signal cancels. It is for commands that only read:
// they have nothing to clean up.
func UntilSignalLooking() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals, over := stopSignals(), make(chan struct{})
	go func() {
		select {
		case sig := <-signals:
			cancel(&Interrupted{sig})
			defer exitAfter(lookLimit, sig)()
			<-over
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		cancel(nil)
	}
}

// Pause waits for d, and reports whether ctx is not done.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// SignalCode returns the exit code of a process that a signal stopped.
func SignalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return int(syscall.SIGINT) + 128
}

// Self returns a command line of this program; nil if the program does not know its own file.
func Self(words ...string) []string {
	self := "/proc/self/exe" // holds when the file was replaced, too
	if _, err := os.Stat(self); err != nil {
		if self, err = os.Executable(); err != nil {
			return nil
		}
	}
	return append([]string{self}, words...)
}
