package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// Transition is a transition of a node, or with an empty node of the run, as a stream tells it.
type Transition struct {
	At      string       `json:"at"`
	Node    string       `json:"node"`
	From    event.Status `json:"from,omitempty"`
	To      event.Status `json:"to,omitempty"`
	Note    event.Note   `json:"note,omitempty"`
	Attempt int          `json:"attempt,omitempty"`
	Reason  string       `json:"reason,omitempty"`
}

// quiet is how long a stream says nothing.
const quiet = 15 * time.Second

// transitions streams the transitions of a run as server-sent events. Their ids count from 1, so the same transition has the same id
// whenever somebody asks.
func (s *Server) transitions(w http.ResponseWriter, r *http.Request) error {
	info, err := s.info(r)
	if err != nil {
		return err
	}
	after := 0
	if text := r.Header.Get("Last-Event-ID"); text != "" {
		if after, err = strconv.Atoi(text); err != nil || after < 0 {
			return &refusal{http.StatusBadRequest, "query", "Last-Event-ID is a whole number"}
		}
	}
	p, err := s.daemon.store.Past(r.Context(), info.Run)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flow := http.NewResponseController(w)
	_ = flow.SetReadDeadline(time.Time{})
	n := 0
	var broken error
	send := func(format string, args ...any) {
		if broken == nil {
			_ = flow.SetWriteDeadline(time.Now().Add(10 * time.Second))
			_, broken = fmt.Fprintf(w, format, args...)
		}
	}
	ctx, leave := context.WithCancelCause(r.Context())
	defer leave(nil)
	last := time.Now()
	err = p.Watch(ctx, runner.Watcher{
		Batch: func(_ []event.Event, out *event.Reaction) {
			for i := range out.Transitions {
				t := &out.Transitions[i]
				if n++; n <= after {
					continue
				}
				body, err := json.Marshal(Transition{t.At.String(), t.Node, t.From, t.To, t.Note, t.Attempt, t.Reason})
				if err != nil {
					broken = err
				}
				send("id: %d\nevent: transition\ndata: %s\n\n", n, body)
				last = time.Now()
			}
		},
		Look: func(engine.Info) {
			if time.Since(last) > quiet { // so that proxies and clients see that the stream lives
				send(": still there\n\n")
				last = time.Now()
			}
			if broken == nil {
				broken = flow.Flush()
			}
			if broken != nil {
				leave(broken)
			}
		},
	})
	if err == nil {
		send("id: %d\nevent: end\ndata: {}\n\n", n)
	}
	_ = flow.Flush()
	return nil
}
