package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"
)

// The store tells of a wait that was cut off as of any other error; what it means is the cause that stands in the context.
func TestAWaitThatWasCutOffHasItsCause(t *testing.T) {
	ctx, stop := context.WithDeadlineCause(context.Background(), time.Now(), &cancelTimeout{"abc", time.Second})
	defer stop()
	a := &app{Streams: Streams{Stdout: io.Discard, Stderr: io.Discard}}
	a.openTerminals()
	for _, err := range []error{context.Cause(ctx), fmt.Errorf("looking: %w", context.DeadlineExceeded)} {
		if code := exitCode(a.explainCancelWait(ctx, err)); code != exitNo {
			t.Errorf("%v: exit code %d", err, code)
		}
	}
	if other := errors.New("broken"); a.explainCancelWait(ctx, other) != other {
		t.Error("an error of its own is taken for the end of the wait")
	}
}
