package temporal

import (
	"context"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// What follows are the duties of a host whose drivers are processes that look at a store. Here workers drive runs, and the server wakes them:
// nothing is parked, and nothing is left behind.

// DriveUntilParked is Drive: the follower of a run that waits costs a question to the server now and then.
func (h *Host) DriveUntilParked(ctx context.Context, run string, w engine.Watcher) (event.End, error) {
	return h.Drive(ctx, run, w)
}

// Wakeable returns nothing.
func (h *Host) Wakeable(context.Context, int) ([]string, event.Time, error) { return nil, 0, nil }

// Woken never holds a token.
func (h *Host) Woken() <-chan struct{} { return nil }

// Left returns nothing: another worker goes on with what a worker left.
func (h *Host) Left(context.Context) ([]engine.Info, error) { return nil, nil }

// Adopt adopts nothing.
func (h *Host) Adopt(context.Context) (int, error) { return 0, nil }

// Alone is false: any worker may drive a run.
func (h *Host) Alone() (bool, error) { return false, nil }

// Renew does nothing: workers look for the secrets of a run when an attempt needs them.
func (h *Host) Renew(string, map[string]event.Secret) {}
