package executor

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestUntilPlenty(t *testing.T) {
	other := errors.New("something else")
	for _, tc := range []struct {
		err      error
		fails    int // how often before it works; -1: always
		want     error
		tries    int
		duration time.Duration
	}{
		{syscall.EMFILE, 0, nil, 1, 0},
		{syscall.EMFILE, 2, nil, 3, 3 * scarceFirst},
		{fmt.Errorf("dial: %w", syscall.ENFILE), 1, nil, 2, scarceFirst},
		{other, -1, other, 1, 0},
		{syscall.EAGAIN, -1, syscall.EAGAIN, 3608, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			tries, began, told := 0, time.Now(), []error(nil)
			err := UntilPlenty(context.Background(), func(err error) { told = append(told, err) }, func() error {
				if tries++; tries == tc.fails+1 {
					return nil
				}
				return tc.err
			})
			if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Errorf("%v: got %v", tc.err, err)
			}
			took := time.Since(began)
			if len(told) > 1 || (len(told) == 1) != (took > 2*scarceTell) {
				t.Errorf("%v: told %v within %v", tc.err, told, took)
			}
			if tc.duration > 0 && took != tc.duration || took > scarceWait+scarceMost {
				t.Errorf("%v took %v", tc.err, took)
			}
			if tries != tc.tries {
				t.Errorf("%v: %d tries in %v, want %d", tc.err, tries, took, tc.tries)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := UntilPlenty(ctx, nil, func() error { return syscall.EMFILE }); err != syscall.EMFILE {
		t.Errorf("called off: %v", err)
	}
}
