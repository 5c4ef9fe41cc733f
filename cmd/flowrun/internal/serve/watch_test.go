package serve

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/standalone"
)

// A loop that watches a file waits: it journals nothing, takes what appears in the file, and keeps no daemon from stopping at once.
func TestLoopThatWatchesRests(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(t.TempDir(), "TODO.md")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# Work\n")
	s, err := standalone.Open(dir, standalone.Options{AnyRoom: true})
	if err != nil {
		t.Fatal(err)
	}
	d := New(Options{Store: s, Grace: 10 * time.Minute})
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- d.Run(ctx) }()
	registering(t, s, "/flow.hcl", strings.Replace(loopProgram, `source "dispatch" {}`, `idle = "10ms"
  idle_max = "20ms"
  source "backlog" {
    from = "file"
    path = "`+path+`"
  }`, 1))
	rests := func() bool {
		l := loopNamed(t, s, "team")
		return l.Live() && l.Run.Status == event.Waiting && s.Watching() == 1 && d.runs.Driven() == 0 && d.runs.Idle()
	}
	until(t, "the loop watches", rests)
	write("# Work\n\n- [ ] one\n")
	until(t, "the item is done", func() bool { return closed(t, s) == 1 })
	until(t, "the loop watches again", rests)
	cancel()
	select {
	case err = <-over:
	case <-time.After(2 * time.Minute):
		t.Fatal("the daemon waits for a loop that waits")
	}
	if err != nil {
		t.Error(err)
	}
	d.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
