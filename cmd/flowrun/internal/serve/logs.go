package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/logs"
	"github.com/flowrun/flowrun/runner/view"
)

// Logs are the attempts of a run in the order of their ends, then those that have not ended.
type Logs struct {
	Attempts []LogAttempt `json:"attempts"`
	// Called are the runs that the run called and that have ended. Their logs are their own.
	Called []string `json:"called"`
}

// LogAttempt is an attempt with the sizes of what it wrote, in bytes.
type LogAttempt struct {
	// ID names the attempt within the run, for as long as the run is there.
	ID         string `json:"id"`
	Node       string `json:"node"`
	Attempt    int    `json:"attempt"`
	Gate       string `json:"gate,omitempty"`
	Compensate bool   `json:"compensate,omitempty"`
	// Status is the outcome of the attempt; "running", or "interrupted" where its driver went away.
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	Stdout  int64  `json:"stdout"`
	Stderr  int64  `json:"stderr"`
}

// LogLines are lines that an attempt wrote, as a stream of logs tells them.
type LogLines struct {
	Node  string   `json:"node"`
	Gate  string   `json:"gate,omitempty"`
	Lines []string `json:"lines"`
}

// LogEnd is the end of an attempt, as a stream of logs tells it.
type LogEnd struct {
	Node    string `json:"node"`
	Attempt int    `json:"attempt"`
	Gate    string `json:"gate,omitempty"`
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// The statuses of an attempt that has not ended.
const (
	logRunning     = "running"
	logInterrupted = "interrupted"
)

// wrote is what an attempt wrote to a stream: a file below the store, or else the text of the journal.
type wrote struct {
	file string
	text func() string
}

// logged is an attempt of a run with what it wrote: standard output and standard error.
type logged struct {
	LogAttempt
	streams [2]wrote
}

// streamNames are the names of the streams of an attempt.
var streamNames = [2]string{"stdout", "stderr"}

// readLogs lists the attempts of a run, all or those of a node, and the runs that it called.
func (s *Server) readLogs(ctx context.Context, info engine.Info, node string) (list []logged, called []string, err error) {
	store := s.daemon.store
	p, err := store.Pinned(ctx, info.Run)
	if err != nil {
		return nil, nil, err
	}
	reader := journal.NewReader(p.Header)
	_, err = store.Batches(ctx, info.Run, func(b journal.Batch) error {
		events, err := reader.Read(b)
		for i := range events {
			if f := events[i].AttemptFinished; f != nil && view.IsAbout(f.Node, node) {
				list = append(list, finished(f))
			}
			if c := events[i].ChildFinished; c != nil && view.IsAbout(c.Node, node) {
				called = append(called, c.Run)
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	err = s.lookAt(ctx, info, wanted{}, func(_ *runView, begun []*view.Begun) error {
		for _, b := range begun {
			if view.IsAbout(b.Node, node) {
				copied := *b // others read its output anew
				list = append(list, unanswered(&copied))
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range list {
		l := &list[i]
		for n, size := range []*int64{&l.Stdout, &l.Stderr} {
			if *size, err = s.sizeOf(l.streams[n]); err != nil {
				return nil, nil, err
			}
		}
	}
	return list, called, nil
}

// finished is an attempt that has ended.
func finished(f *event.AttemptFinished) logged {
	l := logged{LogAttempt{ID: strconv.FormatUint(f.Ticket, 10), Node: f.Node, Attempt: f.Attempt, Gate: f.Gate, Compensate: f.Compensate, Status: string(f.Outcome)},
		[2]wrote{{f.StdoutLog, func() string { return f.Shown().Stdout }}, {f.StderrLog, func() string { return f.Shown().Stderr }}}}
	if f.Error != nil {
		l.Message = f.Error.Message
	}
	return l
}

// unanswered is an attempt that has not ended, or lost its driver. One that another driver began anew has the same ticket as the new one, so
// the number of the event that took over is part of its id.
func unanswered(b *view.Begun) logged {
	l := logged{LogAttempt{ID: strconv.FormatUint(b.Ticket, 10), Node: b.Node, Attempt: b.Attempt, Gate: b.Gate, Compensate: b.Compensate, Status: logRunning},
		[2]wrote{{b.StdoutLog, func() string { return b.Stdout }}, {b.StderrLog, func() string { return b.Stderr }}}}
	if b.Interrupted != "" {
		l.Status, l.Message = logInterrupted, b.Interrupted
	}
	if b.NextDriver != 0 {
		l.ID += "." + strconv.FormatUint(b.NextDriver, 10)
	}
	return l
}

// open opens what an attempt wrote to a stream, and says when that was written last, if that is known. A file that was removed is as one that
// was never made: the text of the journal is left.
func (s *Server) open(w wrote) (io.ReadSeeker, func(), time.Time, error) {
	if w.file != "" {
		f, err := s.daemon.store.Logs().Open(w.file)
		if err == nil {
			at := time.Time{}
			if info, err := f.Stat(); err == nil {
				at = info.ModTime()
			}
			return f, func() { f.Close() }, at, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, nil, time.Time{}, err
		}
	}
	return strings.NewReader(w.text()), func() {}, time.Time{}, nil
}

func (s *Server) sizeOf(w wrote) (int64, error) {
	r, done, _, err := s.open(w)
	if err != nil {
		return 0, err
	}
	defer done()
	return r.Seek(0, io.SeekEnd)
}

func (s *Server) logs(r *http.Request) (any, error) {
	info, err := s.info(r)
	if err != nil {
		return nil, err
	}
	node, err := s.pathOf(r.Context(), info, r.URL.Query().Get("node"))
	if err != nil {
		return nil, err
	}
	list, called, err := s.readLogs(r.Context(), info, node)
	out := Logs{Attempts: []LogAttempt{}, Called: append([]string{}, called...)}
	for i := range list {
		out.Attempts = append(out.Attempts, list[i].LogAttempt)
	}
	return out, err
}

// log answers with what an attempt wrote to a stream, or a range of it.
func (s *Server) log(w http.ResponseWriter, r *http.Request) error {
	info, err := s.info(r)
	if err != nil {
		return err
	}
	list, _, err := s.readLogs(r.Context(), info, "")
	if err != nil {
		return err
	}
	for i := range list {
		for n, name := range streamNames {
			if list[i].ID != r.PathValue("attempt") || name != r.PathValue("stream") {
				continue
			}
			from, done, at, err := s.open(list[i].streams[n])
			if err != nil {
				return err
			}
			defer done()
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			out := &rangeWriter{ResponseWriter: w}
			http.ServeContent(out, r, "", at, from)
			if out.unfit {
				return &refusal{http.StatusRequestedRangeNotSatisfiable, "range", fmt.Sprintf("the log has no bytes %.80q", r.Header.Get("Range"))}
			}
			return nil
		}
	}
	return &refusal{http.StatusNotFound, "log", fmt.Sprintf("run %s has no attempt %.40q with a stream %.40q", info.Run, r.PathValue("attempt"), r.PathValue("stream"))}
}

// rangeWriter keeps back the refusal of a range, which is not JSON.
type rangeWriter struct {
	http.ResponseWriter
	unfit bool
}

func (w *rangeWriter) WriteHeader(status int) {
	if w.unfit = status == http.StatusRequestedRangeNotSatisfiable; !w.unfit {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *rangeWriter) Write(b []byte) (int, error) {
	if w.unfit {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// followLogs streams the output of the attempts of a run as server-sent events, until the run has ended.
func (s *Server) followLogs(w http.ResponseWriter, r *http.Request) error {
	info, err := s.info(r)
	if err != nil {
		return err
	}
	node, err := s.pathOf(r.Context(), info, r.URL.Query().Get("node"))
	if err != nil {
		return err
	}
	p, err := s.daemon.store.Past(r.Context(), info.Run)
	if err != nil {
		return err
	}
	if !info.Status.Terminal() { // without it lines come when an attempt has ended
		if stop, err := s.daemon.store.Follow(info.Run); err == nil {
			defer stop()
		}
	}
	ctx, leave := context.WithCancelCause(r.Context())
	defer leave(nil)
	out := newEventStream(w, leave)
	t := &logs.Tail{
		Folder: s.daemon.store.Logs(),
		Wants:  func(path string) bool { return view.IsAbout(path, node) },
		Lines:  func(node, gate string, lines []string) { out.send("lines", LogLines{node, gate, lines}) },
		Finished: func(f *event.AttemptFinished) {
			e := LogEnd{Node: f.Node, Attempt: f.Attempt, Gate: f.Gate, Status: string(f.Outcome)}
			if f.Error != nil {
				e.Message = f.Error.Message
			}
			out.send("attempt", e)
		},
		Interrupted: func(x *event.Attempt, why string) {
			out.send("attempt", LogEnd{x.Node, x.Attempt, x.Gate, logInterrupted, why})
		},
		Called: func(c *event.ChildFinished) { out.send("called", Started{c.Run}) },
		Warn:   func(err error) { out.send("warning", map[string]string{"message": err.Error()}) },
	}
	defer t.Close()
	err = p.Watch(ctx, runner.Watcher{Batch: t.Apply, Look: func(engine.Info) { t.Look(); out.flush() }})
	if err == nil {
		out.send("end", struct{}{})
	}
	out.flush()
	return nil
}
