package serve

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/journal"
)

// countingReader counts how often the journal of a run is read from its beginning to its end.
type countingReader struct {
	engine.Reader
	mu   sync.Mutex
	read map[string]int
}

func (c *countingReader) Batches(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, error) {
	c.mu.Lock()
	c.read[run]++
	c.mu.Unlock()
	return c.Reader.Batches(ctx, run, each)
}

func (c *countingReader) of(run string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read[run]
}

// TestStatsReadEndedRunsOnce: figures that are computed again read the journals of new runs alone.
func TestStatsReadEndedRunsOnce(t *testing.T) {
	s, start := openStoreOf(t, t.TempDir(), "workflow \"w\" {\n  step \"a\" { run = \"true\" }\n}\n")
	count := &countingReader{Reader: s.Service.Reader, read: map[string]int{}}
	s.Service.Reader = count
	d, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	drive := func() string {
		run := start("w")
		until(t, "the run has ended", func() bool {
			info, err := s.Get(t.Context(), run)
			return err == nil && info.Status.Terminal()
		})
		return run
	}
	first := drive()
	before := count.of(first)
	for want := range 2 {
		d.server.folds.at = time.Time{} // as if it were old
		_, body := c.ask("GET", "/api/v1/stats", "")
		if text := `"total":{"runs":` + string(rune('1'+want)); !strings.Contains(string(body), text) || count.of(first) != before+1 {
			t.Errorf("the journal of a run that has ended is read %d times; %s without %s", count.of(first)-before, body, text)
		}
		if want == 0 {
			drive()
		}
	}
	kept := &d.server.folds.ended
	if _, err := s.Stats(t.Context(), 0, kept, nil); err != nil || count.of(first) != before+1 {
		t.Errorf("of all time: read %d times, %v", count.of(first)-before, err)
	}
}
