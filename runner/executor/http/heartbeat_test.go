package http

import (
	"io"
	nethttp "net/http"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// An agent that sends nothing for longer than its heartbeat is lost; one that sends a line now and then may take long. An
// agent that beats is tried up to three times: a stall of the machine is silence, too.
func TestHeartbeat(t *testing.T) {
	x := newTest(t, Options{})
	for name, c := range map[string]struct {
		beats   int
		beat    time.Duration
		outcome event.Outcome
	}{"silent": {0, 400 * time.Millisecond, event.Lost}, "silent after a while": {1, time.Second, event.Lost}, "beats": {5, 2 * time.Second, event.OK}} {
		f := func(w nethttp.ResponseWriter, r *nethttp.Request) {
			io.Copy(io.Discard, r.Body)
			for range c.beats {
				io.WriteString(w, "{\"type\":\"heartbeat\"}\n")
				w.(nethttp.Flusher).Flush()
				time.Sleep(500 * time.Millisecond)
			}
			if c.outcome == event.Lost {
				<-r.Context().Done()
				return
			}
			io.WriteString(w, `{"type":"result","output":1}`)
		}
		a := agent(serve(t, f))
		a.Agent.Heartbeat = c.beat
		got := do(x, a)
		for try := 1; try < 3 && got.Outcome != c.outcome && c.outcome == event.OK; try++ {
			got = do(x, a)
		}
		if got.Outcome != c.outcome || c.outcome == event.Lost && got.Error.Reason != event.ReasonLost {
			t.Errorf("%s: %s %+v", name, got.Outcome, got.Error)
		}
	}
}
