package work

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

// The logs of an attempt go to where readers find them. A log that cannot go there is not named, and the answer stays what it is.
func TestLogsAreKept(t *testing.T) {
	full := errors.New("it is full")
	w := &Worker{}
	for name, x := range map[string]struct {
		keep                    func(ctx context.Context, log string) (string, error)
		stopped                 bool
		stdout, stderr, warning string
	}{
		"nowhere to go": {nil, false, "logs/r/1.stdout", "", ""},
		"kept":          {func(_ context.Context, log string) (string, error) { return log + "-kept", nil }, false, "logs/r/1.stdout-kept", "", ""},
		"not kept": {func(context.Context, string) (string, error) { return "", full }, false, "", "",
			"the log logs/r/1.stdout stays with its worker: it is full"},
		"the worker stops": {func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() }, true, "", "", "context canceled"},
	} {
		stop := make(chan struct{})
		if x.stopped {
			close(stop)
		}
		f := event.AttemptFinished{Outcome: event.OK, StdoutLog: "logs/r/1.stdout"}
		w.KeepLog = x.keep
		w.keepLogs(t.Context(), stop, &f)
		if f.Outcome != event.OK || f.StdoutLog != x.stdout || f.StderrLog != x.stderr || !strings.Contains(f.Warning, x.warning) || (f.Warning == "") != (x.warning == "") {
			t.Errorf("%s: the answer is %+v", name, f)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the attempt was cancelled, and people want to read what it wrote
	f := event.AttemptFinished{StderrLog: "logs/r/1.stderr"}
	w.KeepLog = func(ctx context.Context, log string) (string, error) { return "kept", ctx.Err() }
	if w.keepLogs(ctx, nil, &f); f.StderrLog != "kept" || f.Warning != "" {
		t.Errorf("after a cancel the answer is %+v", f)
	}
}
