package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/command"
	"github.com/flowrun/flowrun/runner/follow"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/view"
)

// maxOpenLine bounds the part of an unfinished line that is kept in memory, in bytes.
const maxOpenLine = 64 << 10

// tail prints the output of a run's attempts while they write it.
type tail struct {
	a    *app
	s    *store
	step string
	live map[uint64]*tailed // by ticket
}

// tailed is a running attempt.
type tailed struct {
	attempt *event.Attempt
	streams [2]*flow // stdout, stderr
}

// flow is one stream of an attempt: the log file, the position in it, and the beginning of a line.
type flow struct {
	path string
	from event.Time // earlier output belongs to another attempt
	file *os.File
	open []byte
	read bool // something of it
}

var streamNames = [2]string{"stdout", "stderr"}

// followLogs prints the output of all attempts of a run until the run has ended.
func (a *app) followLogs(s *store, info engine.Info, step string) error {
	ctx, release := untilSignalLooking()
	defer release()
	p, err := s.newPast(ctx, info.Run)
	if err != nil {
		return err
	}
	if err := knownStep(p.Workflow, step); err != nil {
		return err
	}
	if !info.Status.Terminal() {
		unmark, err := follow.Mark(s.Dir(), info.Run)
		if err != nil {
			a.err.Printf("What attempts write is shown when they end: %s\n", ui.Clean(err.Error()))
		} else {
			defer unmark()
		}
	}
	t := &tail{a: a, s: s, step: step, live: map[uint64]*tailed{}}
	defer t.close()
	err = p.Watch(ctx, runner.Watcher{
		Batch: t.batch,
		Alone: func(i engine.Info) { a.err.Printf("%s\n", a.describeUndriven(s, i)) },
		Look:  func(engine.Info) { t.look() },
	})
	var stop *interrupted
	if errors.As(err, &stop) {
		return &ended{signalCode(stop.signal)}
	}
	return err
}

// batch handles the attempts that ended, then the attempts that began.
func (t *tail) batch(events []event.Event, out *event.Reaction) {
	for i := range events {
		switch ev := &events[i]; {
		case ev.AttemptFinished != nil && about(ev.AttemptFinished.Node, t.step):
			t.finish(ev.AttemptFinished)
		case ev.ChildFinished != nil && about(ev.ChildFinished.Node, t.step):
			t.a.out.Printf("%s", t.a.describeCall(t.s, ev.ChildFinished))
		case ev.DriverChanged != nil: // running attempts begin again, as other attempts
			t.interrupt(ev.DriverChanged.Lost, ev.At)
			t.close()
		}
	}
	for i := range out.Commands {
		if start := out.Commands[i].Start; start != nil && about(start.Node, t.step) {
			y := &tailed{attempt: start}
			for n, name := range streamNames {
				y.streams[n] = &flow{path: standalone.LogsDir + "/" + command.LogName(start, name), from: events[len(events)-1].At}
			}
			t.live[start.Ticket] = y
		}
	}
}

// look prints the output since the last look, of one attempt after another.
func (t *tail) look() {
	for _, ticket := range slices.Sorted(maps.Keys(t.live)) {
		y := t.live[ticket]
		for _, f := range y.streams {
			t.drain(f, prefixOf(y.attempt.Node, y.attempt.Gate))
		}
	}
}

// interrupt prints the rest of the output of running attempts that lost their driver; over is the
// time of the change of driver.
func (t *tail) interrupt(died bool, over event.Time) {
	why := view.DriverStopped
	if died {
		why = view.DriverDied
	}
	for _, ticket := range slices.Sorted(maps.Keys(t.live)) {
		y := t.live[ticket]
		prefix := prefixOf(y.attempt.Node, y.attempt.Gate)
		for n, f := range y.streams {
			if f.file == nil {
				f.path = t.s.logOf(y.attempt, streamNames[n], f.from, over)
			}
			if f.path != "" {
				t.drain(f, prefix)
			}
			if len(f.open) > 0 {
				t.lines(f, []byte("\n"), prefix)
			}
		}
		f := &event.AttemptFinished{Node: y.attempt.Node, Attempt: y.attempt.Attempt, Gate: y.attempt.Gate, Compensate: y.attempt.Compensate}
		t.a.out.Printf("== %s: %s: %s\n", ui.Attempted(f), view.Interrupted, why)
	}
}

// finish prints the rest of an attempt: from its log files if they exist, else from the journal.
func (t *tail) finish(f *event.AttemptFinished) {
	y := t.live[f.Ticket]
	delete(t.live, f.Ticket)
	prefix := prefixOf(f.Node, f.Gate)
	texts, logs := [2]string{f.Stdout, f.Stderr}, [2]string{f.StdoutLog, f.StderrLog}
	for n := range streamNames {
		x := &flow{}
		if y != nil {
			x = y.streams[n]
		}
		if logs[n] != "" {
			x.path = logs[n]
		}
		if x.path != "" && (logs[n] != "" || x.read) {
			t.drain(x, prefix)
		}
		if !x.read {
			t.lines(x, []byte(texts[n]), prefix)
		}
		if len(x.open) > 0 {
			t.lines(x, []byte("\n"), prefix)
		}
		x.close()
	}
	how := string(f.Outcome)
	if f.Error != nil {
		how = f.Error.Message
	}
	t.a.out.Printf("== %s: %s\n", ui.Attempted(f), ui.Clean(how))
}

func prefixOf(node, gate string) string {
	if gate != "" {
		node += " gate " + ui.GateName(gate)
	}
	return ui.Clean(node) + " | "
}

// drain prints the part of a log file that was not printed yet. A missing file counts as empty.
func (t *tail) drain(f *flow, prefix string) {
	if f.file == nil {
		var err error
		if f.file, err = private.OpenBelow(t.s.Dir(), f.path, os.O_RDONLY); err != nil {
			f.file = nil
			return
		}
		if info, err := f.file.Stat(); err != nil || event.At(info.ModTime()).Add(slack) < f.from {
			f.close() // one that was interrupted: this one will have a file of its own
			return
		}
	}
	piece := make([]byte, 32<<10)
	for {
		n, err := f.file.Read(piece)
		if n > 0 {
			f.read = true
			t.lines(f, piece[:n], prefix)
		}
		if err != nil || n == 0 {
			if err != nil && err != io.EOF {
				t.a.err.Printf("%s: %s\n", ui.Clean(f.path), ui.Clean(err.Error()))
			}
			return
		}
	}
}

// lines prints the lines that end in a piece, and keeps the rest for later.
func (t *tail) lines(f *flow, piece []byte, prefix string) {
	var b strings.Builder
	for len(piece) > 0 {
		end := bytes.IndexByte(piece, '\n')
		if end < 0 && len(f.open)+len(piece) < maxOpenLine {
			f.open = append(f.open, piece...)
			break
		}
		if end < 0 {
			end = len(piece)
		}
		line := string(append(f.open, piece[:end]...))
		f.open, piece = f.open[:0], piece[min(end+1, len(piece)):]
		if t.a.out.Live {
			line = ui.CleanLines(line)
		}
		fmt.Fprintf(&b, "%s%s\n", prefix, line)
	}
	t.a.out.Raw([]byte(b.String()))
}

func (f *flow) close() {
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
}

// close forgets the running attempts.
func (t *tail) close() {
	for _, y := range t.live {
		for _, f := range y.streams {
			f.close()
		}
	}
	clear(t.live)
}
