package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// maxOpenLine bounds the part of an unfinished line that is kept in memory, in bytes.
const maxOpenLine = 64 << 10

// Tail gives the lines that the attempts of a run write, while they write them. It hears of the attempts by [Tail.Apply], and reads the
// files when [Tail.Look] is called. The fields must be set before. It is for one goroutine.
type Tail struct {
	Folder Folder
	// Kept, if set, opens the log of an attempt that has ended, where Folder does not have it. The error wraps fs.ErrNotExist if there is none.
	Kept func(log string) (io.ReadCloser, error)
	// Wants reports whether the lines of a node's attempts are given; path is that of the instance.
	Wants func(path string) bool
	// Lines receives whole lines of an attempt, without their ends.
	Lines func(node, gate string, lines []string)
	// Finished hears that an attempt has ended, and Interrupted that an attempt has lost its driver, when all their lines were given.
	Finished    func(*event.AttemptFinished)
	Interrupted func(a *event.Attempt, why string)
	// Called hears that a called run has ended, whose lines are its own.
	Called func(*event.ChildFinished)
	// Warn hears that a file cannot be read to its end.
	Warn func(error)

	live map[uint64]*tailed // by ticket
}

// tailed is a running attempt.
type tailed struct {
	attempt *event.Attempt
	flows   [len(streams)]*flow
}

// flow is one stream of an attempt: the log file, the position in it, and the beginning of a line.
type flow struct {
	node, gate string
	path       string
	from       event.Time // earlier output belongs to another try
	file       *os.File
	open       []byte
	read       bool // something of it
}

// Apply takes a batch of the run: the attempts that ended, then the attempts that begin.
func (t *Tail) Apply(events []event.Event, out *event.Reaction) {
	for i := range events {
		switch ev := &events[i]; {
		case ev.AttemptFinished != nil && t.Wants(ev.AttemptFinished.Node):
			t.finishAttempt(ev.AttemptFinished)
		case ev.ChildFinished != nil && t.Wants(ev.ChildFinished.Node):
			t.Called(ev.ChildFinished)
		case ev.DriverChanged != nil: // running attempts begin again, as other attempts
			t.interruptAttempts(ev.DriverChanged, ev.At)
			t.Close()
		}
	}
	for i := range out.Commands {
		if start := out.Commands[i].Start; start != nil && t.Wants(start.Node) {
			y := &tailed{attempt: start}
			for n, stream := range streams {
				y.flows[n] = &flow{node: start.Node, gate: start.Gate, path: nameOf(start, stream), from: events[len(events)-1].At}
			}
			if t.live == nil {
				t.live = map[uint64]*tailed{}
			}
			t.live[start.Ticket] = y
		}
	}
}

// Look gives the lines since the last look, of one attempt after another.
func (t *Tail) Look() {
	for _, y := range t.running() {
		for _, f := range y.flows {
			t.drain(f)
		}
	}
}

// running lists the running attempts in the order of their starts.
func (t *Tail) running() (list []*tailed) {
	for _, ticket := range slices.Sorted(maps.Keys(t.live)) {
		list = append(list, t.live[ticket])
	}
	return list
}

// interruptAttempts gives the rest of the output of running attempts that lost their driver; over is the time of the change of driver.
func (t *Tail) interruptAttempts(change *event.DriverChanged, over event.Time) {
	why := view.DriverStopped
	if change.Lost {
		why = view.DriverDied
	}
	for _, y := range t.running() {
		if change.NeverBegan(y.flows[0].from) {
			continue
		}
		for n, f := range y.flows {
			if f.file == nil {
				f.path = t.Folder.find(y.attempt, streams[n], f.from, over)
			}
			if f.path != "" {
				t.drain(f)
			}
			t.endLine(f)
		}
		t.Interrupted(y.attempt, why)
	}
}

// finishAttempt gives the rest of an attempt: from its log files if they exist, else from the journal.
func (t *Tail) finishAttempt(done *event.AttemptFinished) {
	y := t.live[done.Ticket]
	delete(t.live, done.Ticket)
	whole := done.Shown()
	texts, names := [2]string{whole.Stdout, whole.Stderr}, [2]string{done.StdoutLog, done.StderrLog}
	for n := range streams {
		f := &flow{node: done.Node, gate: done.Gate}
		if y != nil {
			f = y.flows[n]
		}
		if names[n] != "" {
			f.path = names[n]
		}
		if f.path != "" && (names[n] != "" || f.read) {
			t.drain(f)
		}
		if !f.read && names[n] != "" && t.Kept != nil {
			t.giveKept(f, names[n])
		}
		if !f.read {
			t.giveLines(f, []byte(texts[n]))
		}
		t.endLine(f)
		f.close()
	}
	t.Finished(done)
}

// drain gives the part of a log file that was not given yet.
func (t *Tail) drain(f *flow) {
	if f.file == nil {
		var err error
		if f.file, err = t.Folder.Open(f.path); err != nil {
			f.file = nil
			return
		}
		if info, err := f.file.Stat(); err != nil || event.At(info.ModTime()).Add(slack) < f.from {
			f.close() // the file of a try that was interrupted: this try will have a file of its own
			return
		}
	}
	t.giveAll(f, f.file)
}

// giveKept gives a log that Folder does not have.
func (t *Tail) giveKept(f *flow, name string) {
	log, err := t.Kept(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Warn(fmt.Errorf("%s: %w", name, err))
		}
		return
	}
	defer log.Close()
	f.path = name
	t.giveAll(f, log)
}

// giveAll gives what is left of a log file.
func (t *Tail) giveAll(f *flow, from io.Reader) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			f.read = true
			t.giveLines(f, piece[:n])
		}
		if err != nil && err != io.EOF {
			t.Warn(fmt.Errorf("%s: %w", f.path, err))
		}
		if err != nil || n == 0 {
			return
		}
	}
}

// giveLines gives the lines that end in a piece, and keeps the rest for later.
func (t *Tail) giveLines(f *flow, piece []byte) {
	var lines []string
	for len(piece) > 0 {
		end := bytes.IndexByte(piece, '\n')
		if end < 0 && len(f.open)+len(piece) < maxOpenLine {
			f.open = append(f.open, piece...)
			break
		}
		if end < 0 {
			end = len(piece)
		}
		lines = append(lines, string(append(f.open, piece[:end]...)))
		f.open, piece = f.open[:0], piece[min(end+1, len(piece)):]
	}
	if lines != nil {
		t.Lines(f.node, f.gate, lines)
	}
}

// endLine gives a line that will not be finished.
func (t *Tail) endLine(f *flow) {
	if len(f.open) > 0 {
		t.giveLines(f, []byte("\n"))
	}
}

func (f *flow) close() {
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
}

// Close forgets the running attempts, and closes their files.
func (t *Tail) Close() {
	for _, y := range t.live {
		for _, f := range y.flows {
			f.close()
		}
	}
	clear(t.live)
}
