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
	ctx, leave := context.WithCancelCause(r.Context())
	defer leave(nil)
	out, n := newEventStream(w, leave), 0
	err = p.Watch(ctx, runner.Watcher{
		Batch: func(_ []event.Event, batch *event.Reaction) {
			for i := range batch.Transitions {
				t := &batch.Transitions[i]
				if n++; n > after {
					out.write("id: %d\n", n)
					out.send("transition", Transition{t.At.String(), t.Node, t.From, t.To, t.Note, t.Attempt, t.Reason})
				}
			}
		},
		Look: func(engine.Info) { out.flush() },
	})
	if err == nil {
		out.write("id: %d\n", n)
		out.send("end", struct{}{})
	}
	out.flush()
	return nil
}

// eventStream writes server-sent events.
type eventStream struct {
	w      http.ResponseWriter
	flow   *http.ResponseController
	leave  context.CancelCauseFunc // ends what gives the events, when nobody reads them any more
	last   time.Time
	broken error
}

// newEventStream begins the answer to a request.
func newEventStream(w http.ResponseWriter, leave context.CancelCauseFunc) *eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	e := &eventStream{w: w, flow: http.NewResponseController(w), leave: leave, last: time.Now()}
	_ = e.flow.SetReadDeadline(time.Time{})
	return e
}

// send writes an event. It does nothing after an error.
func (e *eventStream) send(kind string, data any) {
	body, err := json.Marshal(data)
	if err != nil {
		e.broken = err
	}
	e.write("event: %s\ndata: %s\n\n", kind, body)
}

func (e *eventStream) write(format string, args ...any) {
	if e.broken == nil {
		_ = e.flow.SetWriteDeadline(time.Now().Add(10 * time.Second))
		_, e.broken = fmt.Fprintf(e.w, format, args...)
		e.last = time.Now()
	}
}

// flush hands what was written to the client, and says that the stream lives where it was quiet for long.
func (e *eventStream) flush() {
	if time.Since(e.last) > quiet {
		e.write(": still there\n\n")
	}
	if e.broken == nil {
		e.broken = e.flow.Flush()
	}
	if e.broken != nil {
		e.leave(e.broken)
	}
}
