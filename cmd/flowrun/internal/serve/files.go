package serve

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/runner"
)

const (
	// filesEvery is how often the daemon looks at watched files. Where a look takes long, it looks less often, so that looks take a twentieth
	// of the time at most.
	filesEvery = 250 * time.Millisecond
	// onceLooks is how long [Daemon.Once] waits at most for files that are being written.
	onceLooks = 10 * time.Second
)

// watchFiles publishes the changes of watched files until ctx is done.
func (d *Daemon) watchFiles(ctx context.Context) {
	files, said := d.store.WatchFiles(), ""
	for ctx.Err() == nil {
		began := time.Now()
		_, said = d.lookAtFiles(ctx, files, said)
		select {
		case <-ctx.Done():
		case <-time.After(max(filesEvery, 20*time.Since(began))):
		}
	}
}

// lookAtFiles looks once. It says what cannot be read, once for each text.
func (d *Daemon) lookAtFiles(ctx context.Context, files *runner.Files, said string) (settles time.Duration, now string) {
	settles, err := files.Look(ctx, "")
	if err == nil || ctx.Err() != nil {
		return settles, ""
	}
	if err.Error() != said {
		d.options.Say(err.Error())
	}
	return settles, err.Error()
}

// lookOnce publishes the changes of watched files that settle soon.
func (d *Daemon) lookOnce(ctx context.Context) {
	files, said := d.store.WatchFiles(), ""
	for until := time.Now().Add(onceLooks); ctx.Err() == nil; {
		var settles time.Duration
		if settles, said = d.lookAtFiles(ctx, files, said); settles == 0 || time.Now().Add(settles).After(until) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(settles):
		}
	}
}
