package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/view"
)

// Pinned is the program and the header of a run.
type Pinned struct {
	Header     journal.Header
	Definition []byte
	Program    *Program
	Workflow   *ir.Workflow // of a loop, one without nodes

	first   *journal.Batch    // nil: the journal is empty
	pending *event.RunStarted // of a run that waits for its turn in a group
}

// ErrEnough, returned for a batch, ends the reading of a journal before its end.
var ErrEnough = errors.New("enough")

// Pinned reads the header, the definition and the first batch of a run.
func (s *Service) Pinned(ctx context.Context, run string) (*Pinned, error) {
	var first *journal.Batch
	h, definition, err := s.Journal(ctx, run, func(b journal.Batch) error {
		first = &b
		return ErrEnough
	})
	if err != nil && !errors.Is(err, ErrEnough) {
		return nil, err
	}
	p, err := s.programs.newPinned(h, definition)
	if err != nil {
		return nil, err
	}
	if p.first = first; first == nil {
		started, err := s.Started(ctx, run)
		if err != nil {
			return nil, err
		}
		p.pending = &started
	}
	return p, nil
}

// newPinned loads the program that a journal pins.
func (c *Programs) newPinned(h journal.Header, definition []byte) (*Pinned, error) {
	p, err := c.Load(h.Definition, definition)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", h.Run, err)
	}
	g, err := p.Graph(h.Workflow)
	if err != nil {
		return nil, fmt.Errorf("%w: run %s: its program has no workflow %q", journal.ErrBroken, h.Run, h.Workflow)
	}
	return &Pinned{Header: h, Definition: definition, Program: p, Workflow: g.Workflow}, nil
}

// First is the first event of the run. The caller may change the result.
func (p *Pinned) First() (*event.RunStarted, error) {
	if p.pending != nil {
		return p.pending, nil
	}
	if p.first != nil {
		events, err := journal.NewReader(p.Header).Read(*p.first)
		if err != nil {
			return nil, err
		}
		if first := events[0].RunStarted; first != nil {
			return first, nil
		}
	}
	return nil, fmt.Errorf("%w: run %s has no beginning", journal.ErrBroken, p.Header.Run)
}

// CauseKind reads what started a run. It does not load the program of the run.
func (s *Service) CauseKind(ctx context.Context, run string) (event.CauseKind, error) {
	p := Pinned{}
	h, _, err := s.Journal(ctx, run, func(b journal.Batch) error {
		p.first = &b
		return ErrEnough
	})
	if err != nil && !errors.Is(err, ErrEnough) {
		return "", err
	}
	if p.Header = h; p.first == nil {
		started, err := s.Started(ctx, run)
		return started.CauseOf().Kind, err
	}
	first, err := p.First()
	if err != nil {
		return "", err
	}
	return first.CauseOf().Kind, nil
}

// Beginning reads the first event of a run, and its program.
func (s *Service) Beginning(ctx context.Context, run string) (*event.RunStarted, *Program, error) {
	p, err := s.Pinned(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	first, err := p.First()
	return first, p.Program, err
}

// Reseal brings the hashes of a run's secrets up to the end of its journal: a driver may have given a secret another value.
func (s *Service) Reseal(ctx context.Context, run string, first *event.RunStarted) error {
	if len(first.Secrets) == 0 {
		return nil
	}
	p, err := s.Pinned(ctx, run)
	if err != nil {
		return err
	}
	r := journal.NewReader(p.Header)
	_, err = s.Batches(ctx, run, func(b journal.Batch) error {
		events, err := r.Read(b)
		for i := range events {
			if d := events[i].DriverChanged; d != nil {
				maps.Copy(first.Secrets, d.Secrets)
			}
		}
		return err
	})
	for ref, mark := range first.Secrets {
		mark.Differs = false
		first.Secrets[ref] = mark
	}
	return err
}

// Source is the text of a program, which is kept beside a run for messages. A run never depends on it.
type Source struct {
	Files map[string]string `json:"files"`
	Where map[string]string `json:"where"` // where a step is declared, such as "ship.hcl:14"
	Path  string            `json:"path"`  // the file or folder, absolute
	// Scripts are the SHA-256 hashes, at the start of the run, of files that its steps run, by their paths relative to the run's directory.
	Scripts map[string]string `json:"scripts,omitempty"`
}

// Encode gives the form that a host keeps.
func (s Source) Encode() []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("runner: a source that is not JSON: " + err.Error()) // strings by construction
	}
	return text
}

// SourceOf reads the source of a run.
func (s *Service) SourceOf(ctx context.Context, run string) (out Source, err error) {
	text, err := s.Source(ctx, run)
	if err == nil && len(text) > 0 { // a run that no command has started may have none
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// Where gives a function that says where a step was declared. If the source is missing, messages only get shorter.
func (s *Service) Where(ctx context.Context, run string) func(step string) string {
	source, _ := s.SourceOf(ctx, run)
	return func(step string) string { return source.Where[step] }
}

// Past is a run that is replayed to look at it. Nothing of the store changes.
type Past struct {
	*Pinned
	Run  string
	View *view.Run
	// Attempts are those that have not answered.
	Attempts *view.Attempts

	reader  engine.Reader // nil where the caller reads the journal
	machine engine.Machine
	fold    *engine.Fold
}

// Past prepares the replay of a run. Nothing of its journal has been replayed yet.
func (s *Service) Past(ctx context.Context, run string) (*Past, error) {
	pinned, err := s.Pinned(ctx, run)
	if err != nil {
		return nil, err
	}
	p, err := s.programs.newPast(pinned)
	if err != nil {
		return nil, err
	}
	p.reader = s.Reader
	return p, nil
}

// Past prepares the replay of a journal that the caller reads: only [Past.ReplayBatch] is there to replay it.
func (c *Programs) Past(h journal.Header, definition []byte) (*Past, error) {
	pinned, err := c.newPinned(h, definition)
	if err != nil {
		return nil, err
	}
	return c.newPast(pinned)
}

func (c *Programs) newPast(pinned *Pinned) (*Past, error) {
	m, err := c.Machine(pinned.Header, pinned.Definition)
	if err != nil {
		return nil, err
	}
	return &Past{Pinned: pinned, Run: pinned.Header.Run, View: view.New(pinned.Workflow), Attempts: view.NewAttempts(),
		machine: m, fold: engine.NewFold(pinned.Header, m)}, nil
}

// History is the past of a run, replayed to the end of its journal.
func (s *Service) History(ctx context.Context, run string) (*Past, error) {
	p, err := s.Past(ctx, run)
	if err == nil {
		err = p.Replay(ctx, nil)
	}
	return p, err
}

// Seq is the number of events that were replayed, Last the time of the last one, and End the end of the run, nil before it.
func (p *Past) Seq() uint64      { return p.fold.Seq() }
func (p *Past) Last() event.Time { return p.fold.Last() }
func (p *Past) End() *event.End  { return p.fold.End() }

// Timers are the timers that are set where the replay stands.
func (p *Past) Timers() []event.SetTimer { return p.fold.Timers() }

// Names is the scope of a run's outputs where the replay stands.
func (p *Past) Names() ir.Scope { return p.machine.(interface{ Names() ir.Scope }).Names() }

// Feed tries events that are not in the journal, and appends the reaction to out. The past cannot be replayed further afterwards.
func (p *Past) Feed(now event.Time, events []event.Event, out *event.Reaction) error {
	_, err := p.fold.Feed(now, events, out)
	return err
}

// Seen is one event of a past and its consequences.
type Seen struct {
	Event  event.Event
	Caused *event.Reaction // valid during the call
	Lines  []view.Line     // the changes of the view
}

// Replay replays the journal to its end, into the view. each, if given, sees every event after the view has; if each returns false, the
// past ends there.
func (p *Past) Replay(ctx context.Context, each func(Seen) bool) error {
	_, err := p.reader.Batches(ctx, p.Run, func(b journal.Batch) error { return p.ReplayBatch(b, each) })
	if errors.Is(err, ErrEnough) {
		return nil
	}
	if err == nil && p.Seq() == 0 && p.pending != nil {
		p.View.Apply([]event.Event{{RunStarted: p.pending}}, &event.Reaction{})
	}
	return err
}

// CatchUp replays what the journal got since [Past.Replay] or the last CatchUp, into the view. each, if given, sees every event after the view
// has, and returns true. After an error the past is of no use any more.
func (p *Past) CatchUp(ctx context.Context, each func(Seen) bool) error {
	return p.reader.After(ctx, p.Run, p.Seq(), func(b journal.Batch) error { return p.ReplayBatch(b, each) })
}

// ReplayBatch replays one batch. Without each, the batch is folded as a whole. A machine that panics has diverged, too.
func (p *Past) ReplayBatch(b journal.Batch, each func(Seen) bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: run %s: it fails in the batch of events %d to %d: %v", engine.ErrDiverged, p.Run, b.First, b.Last(), r)
		}
	}()
	if each == nil {
		var out event.Reaction
		events, err := p.fold.Replay(b, &out)
		if err == nil {
			p.View.Apply(events, &out)
			p.Attempts.Apply(events, &out)
		}
		return err
	}
	more := true
	err = p.fold.Trace(b, func(ev event.Event, out *event.Reaction) bool {
		p.Attempts.Apply([]event.Event{ev}, out)
		more = each(Seen{ev, out, p.View.Apply([]event.Event{ev}, out)})
		return more
	})
	if err == nil && !more {
		return ErrEnough
	}
	return err
}

// WatchEvery is how often [Past.Watch] looks at the journal. A look costs one row of a table.
const WatchEvery = 200 * time.Millisecond

// Watcher hears of a run that is watched. Its fields may be nil.
type Watcher struct {
	Batch func([]event.Event, *event.Reaction) // the events of a batch; the view is left to it
	Alone func(engine.Info)                    // no process drives the run; called once until a process drives it again
	Look  func(engine.Info)                    // after each look at the journal
}

// Watch replays a run's journal as it grows, until the run has ended or ctx is done. The error is then the cause of ctx.
func (p *Past) Watch(ctx context.Context, w Watcher) error {
	var out event.Reaction
	told := false
	for {
		err := p.reader.After(ctx, p.Run, p.fold.Seq(), func(b journal.Batch) error {
			events, err := p.fold.Replay(b, &out)
			if err == nil && w.Batch != nil {
				w.Batch(events, &out)
			}
			return err
		})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil || p.fold.End() != nil:
			return err
		}
		info, err := p.reader.Get(ctx, p.Run)
		if err == nil && w.Look != nil {
			w.Look(info)
		}
		if alone := err == nil && info.Interrupted(); alone && !told {
			told = true
			if w.Alone != nil {
				w.Alone(info)
			}
		} else if info.Driver != 0 {
			told = false
		}
		if !pause(ctx, WatchEvery) {
			return context.Cause(ctx)
		}
	}
}

// pause waits, and reports whether ctx is not done.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// replayEnded is the learning.Replay of the service.
func (s *Service) replayEnded(run string, begin func(*ir.Program, string) bool, each func([]event.Event, *event.Reaction)) (whole bool, err error) {
	ctx := context.Background()
	info, err := s.Get(ctx, run)
	if err != nil || !info.Status.Terminal() {
		return false, err
	}
	first, program, err := s.Beginning(ctx, run)
	if err != nil || !begin(program.Program, cmp.Or(first.Program, first.Dir)) {
		return false, err
	}
	p, err := s.Past(ctx, run)
	if err != nil {
		return false, err
	}
	_, err = s.Batches(ctx, run, func(b journal.Batch) error {
		var out event.Reaction
		events, err := p.fold.Replay(b, &out)
		if err == nil {
			each(events, &out)
		}
		return err
	})
	return err == nil, err
}

// maxLastWords bounds the size of a journal that LastWords reads, in events.
const maxLastWords = 10_000

// LastWords returns the last line that the failed attempt wrote whose error is the error of a run that failed; "" if there is none, if
// the error does not name a node, or if the journal has more than 10,000 events.
func (s *Service) LastWords(ctx context.Context, info *engine.Info) (line string) {
	e := info.Summary.Error
	if e == nil || e.Node == "" || e.Reason != event.ReasonExit && e.Reason != event.ReasonSignal || info.Events > maxLastWords {
		return ""
	}
	p, err := s.Pinned(ctx, info.Run)
	if err != nil {
		return ""
	}
	reader := journal.NewReader(p.Header)
	_, err = s.Batches(ctx, info.Run, func(b journal.Batch) error {
		events, err := reader.Read(b)
		for i := range events {
			if f := events[i].AttemptFinished; f != nil && f.Error != nil && f.Gate == "" && !f.Compensate && view.IsAbout(f.Node, e.Node) {
				f = f.Shown()
				if line = view.LastLine(f.Stderr); line == "" {
					line = view.LastLine(f.Stdout)
				}
			}
		}
		return err
	})
	if err != nil {
		return ""
	}
	return line
}
