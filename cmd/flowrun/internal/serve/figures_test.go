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

// TestTaskMetrics: Prometheus reads the figures of a known run by agent and by pattern, and an answer without the parameter has none.
func TestTaskMetrics(t *testing.T) {
	s, start := openStoreOf(t, t.TempDir(), `
agent "coder" {
  type    = "exec"
  command = ["sh", "-c", "cat >/dev/null; echo '{}'"]
}
agent "broken" {
  type    = "exec"
  command = ["sh", "-c", "cat >/dev/null; exit 75"]
  retry {
    max_attempts = 3
    base_delay   = "1ms"
    max_delay    = "1ms"
  }
}
workflow "w" {
  step "code" {
    for_each = range(4)
    agent    = agent.coder
    task     = "code"
  }
  sequence "later" {
    depends_on = [step.code]
    step "bad" {
      agent    = agent.broken
      task     = "break"
      on_error = "continue"
    }
    step "held" {
      depends_on = [step.bad]
      wait { event = "never" }
    }
  }
}
`)
	_, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	run := start("w")
	until(t, "the run waits for its event", func() bool {
		_, body := c.ask("GET", "/api/v1/runs/"+run, "")
		return strings.Contains(string(body), `"waits_for":{"kind":"event"`)
	})
	var text string
	until(t, "the figures have what the run did", func() bool { // a fold is used again for a while
		_, body := c.ask("GET", "/metrics?tasks=true", "")
		text = string(body)
		return strings.Contains(text, `flowrun_pattern_queue{pattern="sequence"} 1`)
	})
	for _, want := range []string{
		`flowrun_agent_tasks{agent="coder",status="succeeded"} 4`, `flowrun_agent_tasks{agent="coder",status="failed"} 0`,
		`flowrun_agent_tasks{agent="broken",status="failed"} 1`, `flowrun_agent_attempts{agent="broken"} 3`, `flowrun_agent_retries{agent="broken"} 2`,
		`flowrun_agent_error_rate{agent="broken"} 1`, `flowrun_agent_success_rate{agent="coder"} 1`, `flowrun_agent_cost_dollars{agent="coder"} 0`,
		`flowrun_pattern_tasks{pattern="for_each",status="succeeded"} 4`, `flowrun_pattern_tasks{pattern="sequence",status="failed"} 1`,
		`flowrun_pattern_retries{pattern="sequence"} 2`, `flowrun_pattern_error_rate{pattern="sequence"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	for _, name := range []string{"flowrun_agent_task_seconds", "flowrun_agent_utilization", "flowrun_pattern_task_seconds", "flowrun_pattern_utilization"} {
		if !strings.Contains(text, "\n"+name+"{") || strings.Count(text, "# TYPE "+name+" gauge\n") != 1 {
			t.Errorf("no figure of %s, or not one type", name)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	if _, body := c.ask("GET", "/metrics", ""); strings.Contains(string(body), "flowrun_agent_") {
		t.Errorf("without the parameter: %s", body)
	}
}
