package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// TestStoreIsTakenAwayWhileItIsDriven removes or replaces the database under a run whose attempt is at work: within 5 s the attempt
// is ended, and the drive says what happened and what to do.
func TestStoreIsTakenAwayWhileItIsDriven(t *testing.T) {
	const limit = 30 * time.Second // an idle machine needs less than a second; without the check the drive never ends
	for name, harm := range map[string]func(path string) error{
		"unlinked": os.Remove,
		"replaced": func(path string) error {
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path+".other", b, 0o600)
			}
			return errors.Join(err, os.Rename(path+".other", path))
		},
		"with its folder": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			at, ended := make(chan struct{}), make(chan struct{})
			x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
				close(at)
				<-ctx.Done()
				close(ended)
				return executor.Answer(a)
			})
			e := s.open(t, Options{Factory: enginetest.Factory, Executor: x})
			run := begin(t, e, tasks(1))
			done := make(chan error, 1)
			go func() { _, err := e.Drive(context.Background(), run, nil); done <- err }()
			<-at
			began := time.Now()
			if err := harm(filepath.Join(s.dir, databaseFile)); err != nil {
				t.Fatal(err)
			}
			err := <-done
			took := time.Since(began)
			if !errors.Is(err, ErrReplaced) || !strings.Contains(err.Error(), "resume") || took > limit {
				t.Errorf("after %v the drive says %v", took, err)
			}
			<-ended
			if _, err := e.Start(context.Background(), tasks(1).Start()); !errors.Is(err, ErrReplaced) {
				t.Errorf("a start gives %v", err)
			}
			t.Logf("noticed after %v", took)
		})
	}
}
