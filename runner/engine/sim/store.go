package sim

import (
	"cmp"
	"context"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/shared"
)

// Store is what survives a crash, and the one clock and the one source of chance of a simulation.
type Store struct {
	rng      *rand.Rand
	now      event.Time // monotonic virtual time
	skew     time.Duration
	runs     map[string]*stored
	contents map[string][]byte // of artifacts, by their hashes
	silent   map[string]int    // by key: how often an attempt at that work fell silent
	struck   Struck
	line     line
	turns    *admission.State // the requests of runs of groups for their turns
	entered  int64            // how many runs have entered a line so far
	shared   shared.Map
	parkings uint64
	lives    int64          // processes so far
	alive    map[int64]bool // processes, by their numbers
	moments  int            // opportunities to die so far
	changes  uint64         // of turns and cancels, after which the turn of a run can have come
}

// stored is one run.
type stored struct {
	engine.Record
	driven bool
	clean  bool // the last driver stopped by itself
	ended  bool
	parked parked
	group  engine.Line     // the line of a run of a group
	number int             // of the run in the order of their starts
	queued bool            // a driver waits for the turn of the run
	asks   []event.Command // of the first batch, until the run is stored
	rest   *shared.Rest    // after the first batch
}

// NewStore makes an empty store whose chance is drawn from a seed.
func NewStore(seed uint64) *Store {
	return &Store{rng: rand.New(rand.NewPCG(seed, 0x666c6f7772756e)), now: Epoch, runs: map[string]*stored{}, contents: map[string][]byte{},
		silent: map[string]int{}, alive: map[int64]bool{}, turns: admission.Load(nil, nil)}
}

// Struck counts the faults that have struck.
type Struck struct {
	Crashes, Twice, Stale, Silent, Back, Slow, Jumps, Busy int
	// Parked counts the crashes of processes with parked runs, or with runs that were about to be parked or woken. They are in Crashes, too.
	Parked int
}

// Struck tells how often chance has done what Faults allow.
func (s *Store) Struck() Struck { return s.struck }

// put keeps parts, which are durable at once; see event.Shorten.
func (s *Store) put(p *event.Parts) (*event.Artifact, error) {
	content, a, err := p.Encode()
	if err == nil {
		s.contents[a.Hash], a.From = content, s
	}
	return a, err
}

// Load implements event.Artifacts.
func (s *Store) Load(a *event.Artifact) (*event.Parts, error) {
	content, kept := s.contents[a.Hash]
	if !kept {
		return nil, fmt.Errorf("the artifact %.12s is missing", a.Hash)
	}
	return a.Decode(content)
}

// wall is what a clock on the wall shows, jumps included.
func (s *Store) wall() event.Time { return s.now.Add(s.skew) }

// Now is the virtual time that clocks on the wall show.
func (s *Store) Now() event.Time { return s.wall() }

// After is the moment that comes so long from now, whatever happens to the clock on the wall.
func (s *Store) After(d time.Duration) event.Time { return s.now.Add(d) }

// Pass lets time pass in which nobody drives anything.
func (s *Store) Pass(d time.Duration) { s.now = s.now.Add(d) }

// strikes draws one fault and counts it.
func (s *Store) strikes(p float64, count *int) bool {
	if p <= 0 || s.rng.Float64() >= p {
		return false
	}
	*count++
	return true
}

// Engine is one process. It implements engine.Engine and engine.Parker. When it has died, by chance or by Close, the next drive or
// start makes it a new process.
type Engine struct {
	*Store
	opts  Options
	epoch int64 // the number of the process; 0: it has none yet
	// fault, if set, is asked before and after each commit; an error is the end of the process's writing.
	fault func(after bool) error
	dead  error
	added []string        // runs that DriveAll has yet to take
	away  map[string]bool // runs without a driver, which DriveAll takes later
	all   *life           // of DriveAll, while it is at work
}

// New starts a process on a store.
func New(s *Store, o Options) *Engine {
	if o.Faults.MaxCrashes == 0 {
		o.Faults.MaxCrashes = 20
	}
	return &Engine{Store: s, opts: o}
}

// register gives the process a number, and returns it.
func (e *Engine) register() int64 {
	if e.epoch == 0 {
		e.lives++
		e.epoch = e.lives
		e.alive[e.epoch] = true
	}
	return e.epoch
}

// Close ends the process: it gives back its turns and the runs that it has parked.
func (e *Engine) Close() {
	delete(e.alive, e.epoch)
	e.leaveLines(func(r *admission.Request) bool { return r.Driver == e.epoch })
	e.epoch = 0
}

// stored finds a run.
func (e *Engine) stored(run string) (*stored, error) {
	if e.dead != nil {
		return nil, e.dead
	}
	s := e.runs[run]
	if s == nil {
		return nil, fmt.Errorf("%w: %s", engine.ErrNoRun, run)
	}
	return s, nil
}

// commit makes a change durable, or dies over it.
func (e *Engine) commit(change func()) error {
	if e.dead == nil && e.fault != nil {
		e.dead = e.fault(false)
	}
	if e.dead != nil {
		return e.dead
	}
	change()
	if e.fault != nil {
		e.dead = e.fault(true)
	}
	return e.dead
}

// Start implements engine.Engine. A run without an id gets one by chance.
func (e *Engine) Start(_ context.Context, s engine.Start) (string, error) {
	if s.Header.Run == "" {
		id := make([]byte, 8)
		binary.BigEndian.PutUint64(id, e.rng.Uint64())
		s.Header.Run = strings.ToLower(base32.StdEncoding.EncodeToString(id))[:12]
	}
	run := s.Header.Run
	if e.dead != nil || e.runs[run] != nil {
		return run, e.dead
	}
	s.Header.Format, s.Header.Created, s.First.Run = journal.Format, e.wall(), run
	g, err := engine.GroupOf(e.opts.Group, &s)
	if err == nil {
		err = e.startInGroup(s, g)
	}
	return run, err
}

// makeRun returns a run as it is stored at its start. A run that has to wait for its turn has an empty journal.
func (e *Engine) makeRun(s engine.Start, begins bool) (*stored, error) {
	m, err := e.opts.Factory(s.Header, s.Definition)
	if err != nil {
		return nil, err
	}
	var out event.Reaction
	first := s.First
	fold := engine.NewFold(s.Header, m)
	b, err := fold.Feed(e.wall(), []event.Event{{RunStarted: &first}}, &out)
	if err != nil {
		return nil, err
	}
	made := &stored{Record: engine.Record{Start: s}, number: len(e.runs)}
	if begins {
		made.Batches, made.asks = []journal.Batch{b}, engine.Asks(out.Commands)
		due, idle := fold.Due()
		made.rest = shared.RestOf(&first, due, idle)
	}
	return made, nil
}

func (e *Engine) sweepShared(do func(shared.Rows) error) error { return do(&e.shared) }

// Ask implements engine.Sharer.
func (e *Engine) Ask(_ context.Context, r event.StoreRequest) (value.Value, error) {
	var a shared.Answer
	var err error
	ask := func() (err error) {
		a, err = shared.Apply(&e.shared, &r, shared.Waiter{}, e.wall())
		e.postAll(a.Posts)
		return err
	}
	if dead := e.commit(func() { err = shared.Uncrowd(ask, e.sweepShared) }); dead != nil {
		return nil, dead
	}
	return a.Output, err
}

// postAll puts messages into the inboxes of runs.
func (e *Engine) postAll(posts []shared.Post) {
	for _, p := range posts {
		s := e.runs[p.Run]
		if s == nil || s.ended {
			continue
		}
		s.hear(p.External)
		if err := shared.Stir(&e.shared, p.Run); err != nil {
			panic("sim: " + err.Error()) // it is a map
		}
	}
}

// hear takes a message of what runs share in.
func (s *stored) hear(x event.External) {
	if err := s.Inbox.Post(x); err != nil {
		panic("sim: " + err.Error()) // package shared bounds it
	}
}

// Signal implements engine.Engine.
func (e *Engine) Signal(_ context.Context, run string, x event.External) error {
	s, err := e.stored(run)
	if err != nil {
		return err
	}
	dead := e.commit(func() {
		err = s.Inbox.Signal(x, e.opts.Externals, s.ended)
		e.changes++
	})
	return cmp.Or(dead, err)
}

// Cancel implements engine.Engine.
func (e *Engine) Cancel(ctx context.Context, run, reason string) error {
	return e.Signal(ctx, run, event.External{Kind: event.ExternalCancel, Reason: reason})
}

// wish asks for a run's cancel until it has been asked as often as is wished.
func (e *Engine) wish(run string, w engine.Wish) (err error) {
	s := e.runs[run]
	if s.ended || s.Inbox.Cancels >= w.Cancels {
		return nil
	}
	dead := e.commit(func() {
		e.changes++
		err = s.Inbox.CancelUpTo(w)
	})
	return cmp.Or(dead, err)
}

// Journal implements engine.Engine.
func (e *Engine) Journal(_ context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error) {
	s, err := e.stored(run)
	if err != nil {
		return journal.Header{}, nil, err
	}
	return s.Read(each)
}

// keep is what a commit changes.
func (s *stored) keep(b journal.Batch, events []event.Event, files event.Artifacts) {
	b.From = files
	s.Keep(b, events)
}

// KV returns the values of kv that do not expire, by NAMESPACE/KEY.
func (s *Store) KV() (map[string]value.Value, error) { return shared.KeptKV(&s.shared) }
