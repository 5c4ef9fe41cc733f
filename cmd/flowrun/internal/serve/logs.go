package serve

import (
	"cmp"
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
	text func(context.Context) string
	size int64 // of the text
}

// logged is an attempt of a run with what it wrote: standard output and standard error.
type logged struct {
	LogAttempt
	streams [2]wrote
}

// streamNames are the names of the streams of an attempt.
var streamNames = [2]string{"stdout", "stderr"}

// attemptLogs are the attempts of a run that have ended. They are read from the journal once, and after that only what is new is. What an
// attempt wrote stays in the journal: an entry knows the batch that has it.
type attemptLogs struct {
	reader *journal.Reader
	list   []logged
	called []calledRun
}

// calledRun is a run that a node called.
type calledRun struct{ node, run string }

// bringLogs reads what is new of the attempts of a run.
func (s *Server) bringLogs(ctx context.Context, x *runView) error {
	if x.logs == nil {
		x.logs = &attemptLogs{reader: journal.NewReader(x.past.Header)}
	}
	l := x.logs
	return s.daemon.store.After(ctx, x.past.Run, l.reader.Next()-1, func(b journal.Batch) error {
		first, link := l.reader.Next(), l.reader.Link()
		events, err := l.reader.Read(b)
		for i := range events {
			if f := events[i].AttemptFinished; f != nil {
				l.list = append(l.list, s.finished(f, x.past.Header, first, link, events[i].Seq))
			}
			if c := events[i].ChildFinished; c != nil {
				l.called = append(l.called, calledRun{c.Node, c.Run})
			}
		}
		return err
	})
}

// wantedLogs says which attempts of a run are asked for; "" is all of them.
type wantedLogs struct{ node, attempt string }

func (w wantedLogs) has(l *logged) bool {
	return view.IsAbout(l.Node, w.node) && (w.attempt == "" || w.attempt == l.ID)
}

// readLogs lists the attempts of a run, all or those that are asked for, and the runs that it called.
func (s *Server) readLogs(ctx context.Context, info engine.Info, w wantedLogs) (list []logged, called []string, err error) {
	err = s.lookAt(ctx, info, wanted{}, func(x *runView, begun []*view.Begun) error {
		if err := s.bringLogs(ctx, x); err != nil {
			x.logs = nil // it may have stopped in the middle
			return err
		}
		for i := range x.logs.list {
			if l := &x.logs.list[i]; w.has(l) {
				list = append(list, *l)
			}
		}
		for _, c := range x.logs.called {
			if view.IsAbout(c.node, w.node) {
				called = append(called, c.run)
			}
		}
		for _, b := range begun {
			copied := *b // others read its output anew
			if l := unanswered(&copied); w.has(&l) {
				list = append(list, l)
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

// finished is an attempt that has ended. Its event is in the batch that begins with event first, behind a link of the chain.
func (s *Server) finished(f *event.AttemptFinished, h journal.Header, first uint64, link journal.Link, seq uint64) logged {
	shown := f.Shown()
	again := func(of func(*event.AttemptFinished) string) func(context.Context) string {
		return func(ctx context.Context) (text string) {
			err := s.daemon.store.After(ctx, h.Run, first-1, func(b journal.Batch) error {
				events, err := journal.NewReaderAt(h, first, link).Read(b)
				for i := range events {
					if events[i].Seq == seq && events[i].AttemptFinished != nil {
						text = of(events[i].AttemptFinished.Shown())
					}
				}
				return cmp.Or(err, runner.ErrEnough)
			})
			if err != nil && !errors.Is(err, runner.ErrEnough) {
				return "[flowrun: " + err.Error() + "]\n"
			}
			return text
		}
	}
	l := logged{LogAttempt{ID: strconv.FormatUint(f.Ticket, 10), Node: f.Node, Attempt: f.Attempt, Gate: f.Gate, Compensate: f.Compensate, Status: string(f.Outcome)},
		[2]wrote{{f.StdoutLog, again(func(f *event.AttemptFinished) string { return f.Stdout }), int64(len(shown.Stdout))},
			{f.StderrLog, again(func(f *event.AttemptFinished) string { return f.Stderr }), int64(len(shown.Stderr))}}}
	if f.Error != nil {
		l.Message = f.Error.Message
	}
	return l
}

// unanswered is an attempt that has not ended, or lost its driver. One that another driver began anew has the same ticket as the new one, so
// the number of the event that took over is part of its id.
func unanswered(b *view.Begun) logged {
	l := logged{LogAttempt{ID: strconv.FormatUint(b.Ticket, 10), Node: b.Node, Attempt: b.Attempt, Gate: b.Gate, Compensate: b.Compensate, Status: logRunning},
		[2]wrote{{b.StdoutLog, func(context.Context) string { return b.Stdout }, int64(len(b.Stdout))}, {b.StderrLog, func(context.Context) string { return b.Stderr }, int64(len(b.Stderr))}}}
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
func (s *Server) open(ctx context.Context, w wrote) (io.ReadSeeker, func(), time.Time, error) {
	if w.file != "" {
		f, at, err := s.daemon.store.OpenLog(w.file)
		if err == nil {
			return f, func() { f.Close() }, at, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, nil, time.Time{}, err
		}
	}
	return strings.NewReader(w.text(ctx)), func() {}, time.Time{}, nil
}

// sizeOf is the size of what open opens.
func (s *Server) sizeOf(w wrote) (int64, error) {
	if w.file == "" {
		return w.size, nil
	}
	f, _, err := s.daemon.store.OpenLog(w.file)
	if errors.Is(err, os.ErrNotExist) {
		return w.size, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Seek(0, io.SeekEnd)
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
	list, called, err := s.readLogs(r.Context(), info, wantedLogs{node, r.URL.Query().Get("attempt")})
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
	list, _, err := s.readLogs(r.Context(), info, wantedLogs{attempt: r.PathValue("attempt")})
	if err != nil {
		return err
	}
	for i := range list {
		for n, name := range streamNames {
			if list[i].ID != r.PathValue("attempt") || name != r.PathValue("stream") {
				continue
			}
			from, done, at, err := s.open(r.Context(), list[i].streams[n])
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
		Folder: s.daemon.store.Logs(), Kept: func(log string) (io.ReadCloser, error) {
			f, _, err := s.daemon.store.OpenLog(log)
			return f, err
		},
		Wants: func(path string) bool { return view.IsAbout(path, node) },
		Lines: func(node, gate string, lines []string) { out.send("lines", LogLines{node, gate, lines}) },
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
