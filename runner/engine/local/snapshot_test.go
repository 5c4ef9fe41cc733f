package local

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/snapshot"
)

var errStopped = errors.New("the test stops it")

// keeper is a store with a run of many steps, one after the other, which the test stops after some of them.
type keeper struct {
	*store
	definition []byte
	run        string
	every      uint64
	rules      int
	past       bool // somebody wants the past
	disk       *disk
	at         func(engine.Point)
	restored   int
	began      int          // of the observer: how many first events
	seen       int          // of the observer: how many events
	stopAfter  atomic.Int32 // answers
	long       bool         // answers are too long for the journal
	stop       context.CancelCauseFunc
	stopAt     uint64    // the event at which the test stops it, too
	first      time.Time // when that was
}

func newKeeper(t *testing.T, steps int) *keeper {
	t.Helper()
	return newKeeperOf(t, "workflow \"w\" {\n  max_concurrency = 1\n  step \"s\" {\n    for_each = range("+fmt.Sprint(steps)+")\n    run = [\"true\"]\n  }\n}\n")
}

func newKeeperOf(t *testing.T, text string) *keeper {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(text)}}, "w.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	k := &keeper{store: newStore(t), definition: p.IR.Canonical(), every: 5}
	e := k.engine(t)
	defer e.Close()
	var err error
	k.run, err = e.Start(context.Background(), engine.Start{Header: journal.Header{Behaviour: ir.Behaviour, Definition: p.IR.Hash(), Workflow: "w"},
		First: event.RunStarted{Workflow: "w", Dir: "/"}, Definition: k.definition})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *keeper) make(definition []byte, h journal.Header, state *[]byte) (engine.Machine, error) {
	p, err := ir.Load(definition)
	if err != nil {
		return nil, err
	}
	g, err := plan.Build(p, h.Workflow)
	if err != nil {
		return nil, err
	}
	eval := expr.NewEvaluator(ir.NewestRules())
	if state == nil {
		return machine.New(g, eval, ir.NewestRules()), nil
	}
	m, err := machine.Restore(g, eval, ir.NewestRules(), *state)
	if err == nil {
		k.restored++
	}
	return m, err
}

func (k *keeper) engine(t *testing.T) *Engine {
	return k.open(t, Options{KeepEvery: k.every, Rules: k.rules, At: k.at, disk: k.disk,
		Factory: func(h journal.Header, definition []byte) (engine.Machine, error) { return k.make(definition, h, nil) },
		Restore: func(h journal.Header, definition, state []byte) (engine.Machine, error) {
			return k.make(definition, h, &state)
		},
		WantsPast: func(journal.Header, []byte) bool { return k.past },
		Watch: func(_ string, events []event.Event, _ *event.Reaction, replayed bool) {
			if n := uint64(len(events)); !replayed && events[n-1].Seq >= k.stopAt && k.stopAt > 0 {
				k.first = time.Now()
				k.stop(errStopped)
			}
			if replayed {
				k.seen += len(events)
			}
			if replayed && events[0].RunStarted != nil {
				k.began++
			}
		},
		Executor: executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
			if k.stopAfter.Add(-1) < 0 {
				k.stop(errStopped)
				<-ctx.Done()
			}
			if k.long {
				return answersLong.Execute(ctx, a)
			}
			return answersOK.Execute(ctx, a)
		})})
}

// drive drives the run until so many steps have ended more. What is counted is of this drive.
func (k *keeper) drive(t *testing.T, steps int, w engine.Watcher) error {
	t.Helper()
	e := k.engine(t)
	defer e.Close()
	k.restored, k.began, k.seen = 0, 0, 0
	k.stopAfter.Store(int32(steps))
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	k.stop = stop
	end, err := e.Drive(ctx, k.run, w)
	if err == nil && end.Status != event.Succeeded {
		err = fmt.Errorf("it ends %s", end.Status)
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

func (k *keeper) path() string { return (&Engine{dir: k.dir}).snapshotPath(k.run) }

// examine returns what doctor hears about the snapshot.
func (k *keeper) examine(t *testing.T) (h engine.Health) {
	t.Helper()
	e := k.engine(t)
	defer e.Close()
	h, err := e.Examine(context.Background(), 0)
	if err != nil || len(h.Broken) > 0 {
		t.Fatal(h.Broken, err)
	}
	return h
}

func (k *keeper) read(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(k.path())
	k.must(t, err)
	return b
}

// copy copies the store as a crash would leave it.
func (k *keeper) copy(t *testing.T) *keeper {
	t.Helper()
	s := newStore(t)
	k.must(t, os.CopyFS(s.dir, os.DirFS(k.dir)))
	k.must(t, filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		} else if err == nil {
			return os.Chmod(path, 0o600)
		}
		return err
	}))
	s.clock.now = k.clock.Now()
	return &keeper{store: s, definition: k.definition, run: k.run, every: k.every, rules: k.rules}
}

func (k *keeper) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A driver begins from the snapshot, and the observer sees the first event and what came after. Where the past is wanted, it is replayed. The
// snapshot of a run that has ended goes.
func TestARunBeginsFromItsSnapshot(t *testing.T) {
	k := newKeeper(t, 60)
	k.must(t, k.drive(t, 20, nil))
	if h := k.examine(t); h.Snapshots != 1 || len(h.Odd) > 0 {
		t.Errorf("after the first drive: %+v", h)
	}
	k.must(t, k.drive(t, 10, nil))
	if k.restored != 1 || k.began != 1 || k.seen > 1+int(k.every) {
		t.Errorf("restored %d times, and the observer saw %d first events and %d events in all", k.restored, k.began, k.seen)
	}
	if h := k.examine(t); h.Snapshots != 1 || len(h.Odd) > 0 {
		t.Errorf("after the second drive: %+v", h)
	}
	seen := 0
	k.must(t, k.drive(t, 5, func(events []event.Event, _ *event.Reaction, replayed bool) {
		if replayed {
			seen += len(events)
		}
	}))
	if k.restored != 0 || seen < 30 || k.seen != seen {
		t.Errorf("with a watcher it was restored %d times, and %d events were replayed", k.restored, seen)
	}
	k.past = true
	k.must(t, k.drive(t, 5, nil))
	if k.restored != 0 || k.seen < 30 {
		t.Errorf("with an observer that wants the past it was restored %d times, and %d events were replayed", k.restored, k.seen)
	}
	k.past = false
	k.must(t, k.drive(t, 100, nil))
	if k.restored != 1 {
		t.Errorf("the last driver restored it %d times", k.restored)
	}
	if files, err := os.ReadDir(k.dir + "/" + snapshotsDir); err != nil || len(files) != 0 {
		t.Errorf("the ended run leaves %v (%v)", files, err)
	}
}

// A snapshot has references to what lies beside the journal, and the next driver reads it.
func TestASnapshotOfLongAnswers(t *testing.T) {
	k := newKeeperOf(t, `workflow "w" {
  max_concurrency = 1

  step "s" {
    for_each = range(20)
    run      = ["true"]
  }

  step "t" {
    run = ["true", step.s.output[1], length(step.s.output)]

    gate "long" {
      check = "len(result.output) > 0 and len(step.s.output[2]) > 10000"
    }
  }
}
`)
	k.long = true
	k.must(t, k.drive(t, 12, nil))
	if h := k.examine(t); h.Snapshots != 1 || len(h.Odd) > 0 {
		t.Errorf("after the first drive: %+v", h)
	}
	if b := k.read(t); len(b) > 12*1500 {
		t.Errorf("the snapshot has %d bytes", len(b))
	}
	k.must(t, k.drive(t, 100, nil))
	if k.restored != 1 {
		t.Errorf("the second driver restored it %d times", k.restored)
	}
}

// A run that was parked goes on from its snapshot when it is woken, and a process that adopts it begins there, too.
func TestAParkedRunBeginsFromItsSnapshot(t *testing.T) {
	k := newKeeperOf(t, `workflow "w" {
  step "s" {
    for_each = range(20)
    run      = ["true"]
  }
  step "pause" {
    wait { duration = "10m" }
    depends_on = [step.s]
  }
  step "last" {
    run        = ["true"]
    depends_on = [step.pause]
  }
}`)
	k.stopAfter.Store(100)
	park := func(e *Engine) {
		t.Helper()
		if _, err := e.DriveUntilParked(context.Background(), k.run, nil); !errors.Is(err, engine.ErrParked) {
			t.Fatal(err)
		}
	}
	e := k.engine(t)
	park(e)
	park(e)
	if k.restored != 1 {
		t.Errorf("woken, it is restored %d times", k.restored)
	}
	k.must(t, e.Close())
	e = k.engine(t)
	defer e.Close()
	if n, err := e.Adopt(context.Background()); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	k.Advance(time.Hour)
	if end, err := e.DriveUntilParked(context.Background(), k.run, nil); err != nil || end.Status != event.Succeeded || k.restored != 2 {
		t.Errorf("it ends %v (%v) and was restored %d times", end.Status, err, k.restored)
	}
}

// A snapshot that is damaged, of another run, ahead of the journal or of another journal is passed over, and doctor hears of it.
func TestSnapshotsOfNoUseArePassedOver(t *testing.T) {
	k := newKeeper(t, 60)
	k.must(t, k.drive(t, 20, nil))
	ahead, later, stranger := k.copy(t), k.copy(t), newKeeper(t, 60)
	k.must(t, ahead.drive(t, 20, nil))
	later.Advance(time.Hour)
	k.must(t, later.drive(t, 10, nil))
	k.must(t, k.drive(t, 10, nil))
	k.must(t, stranger.drive(t, 20, nil))
	release := k.copy(t)
	release.rules++
	k.must(t, release.drive(t, 10, nil))
	good := k.read(t)
	flip := func(at int) []byte {
		b := slices.Clone(good)
		b[at] ^= 1
		return b
	}
	for name, bad := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)-1], "the head": flip(20), "the state": flip(len(good) - 100),
		"the length": binary.AppendUvarint(nil, 1<<63+5), "ahead": ahead.read(t), "another journal": later.read(t), "another run": stranger.read(t),
		"another release": release.read(t),
	} {
		t.Run(name, func(t *testing.T) {
			k := k.copy(t)
			if h := k.examine(t); h.Snapshots != 1 || len(h.Odd) > 0 {
				t.Fatalf("before: %+v", h)
			}
			k.must(t, os.WriteFile(k.path(), bad, 0o600))
			if h := k.examine(t); h.Snapshots != 1 || len(h.Odd) != 1 {
				t.Errorf("doctor hears %+v", h)
			}
			k.must(t, k.drive(t, 10, nil))
			if k.restored != 0 || k.seen < 30 {
				t.Errorf("restored %d times, and %d events were replayed", k.restored, k.seen)
			}
			if h := k.examine(t); h.Snapshots != 1 || len(h.Odd) > 0 {
				t.Errorf("afterwards doctor hears %+v", h)
			}
		})
	}
}

// A state that its journal does not give is found: the tally of durations is a part of it.
func TestDoctorComparesSnapshots(t *testing.T) {
	k := newKeeper(t, 60)
	k.must(t, k.drive(t, 20, nil))
	e := k.engine(t)
	defer e.Close()
	c, err := e.scanRun(e.read.QueryRow(runRow, k.run).Scan, k.run)
	k.must(t, err)
	h, state, err := e.decodeState(c.header, k.read(t))
	k.must(t, err)
	h.tally = durations.Tally{}
	b, err := e.appendHead(nil, c.header, &h)
	k.must(t, err)
	k.must(t, os.WriteFile(k.path(), append(b, state...), 0o600))
	if h := k.examine(t); len(h.Odd) != 1 || !strings.Contains(h.Odd[0].Err.Error(), "not the one that its journal gives") {
		t.Errorf("doctor hears %+v", h)
	}
}

// A process that dies around the writing of a snapshot leaves a run that goes on to its end.
func TestKillsAroundASnapshot(t *testing.T) {
	k := newKeeper(t, 15)
	var left []*keeper
	names := map[engine.Point]int{}
	k.at = func(p engine.Point) {
		if p == engine.Writing || p == engine.Naming || p == engine.Named {
			left, names[p] = append(left, k.copy(t)), names[p]+1
		}
	}
	k.must(t, k.drive(t, 100, nil))
	if len(names) != 3 || names[engine.Writing] < 3 {
		t.Fatalf("the points were %v", names)
	}
	restored := 0
	for i, k := range left {
		if h := k.examine(t); len(h.Odd) > 0 {
			t.Errorf("copy %d: %v", i, h.Odd)
		}
		if err := k.drive(t, 100, nil); err != nil {
			t.Errorf("copy %d: %v", i, err)
		}
		restored += k.restored
		if files, err := os.ReadDir(k.dir + "/" + snapshotsDir); err != nil || len(files) != 0 {
			t.Errorf("copy %d leaves %v (%v)", i, files, err)
		}
	}
	if restored < len(left)/2 {
		t.Errorf("%d of %d were restored", restored, len(left))
	}
}

// fullFiles are files of which no snapshot can be written, for one of two reasons.
type fullFiles struct {
	files
	noRoom, breaks bool
	tried          int
}

func (f *fullFiles) room(dir string) (uint64, error) {
	if f.noRoom {
		return ReserveFrom, nil
	}
	return f.files.room(dir)
}

func (f *fullFiles) open(path string, flag int) (file, error) {
	x, err := f.files.open(path, flag)
	if err == nil && strings.HasSuffix(path, unnamed) && strings.Contains(path, snapshotsDir) {
		if f.tried++; f.breaks {
			x = fullFile{x}
		}
	}
	return x, err
}

type fullFile struct{ file }

func (f fullFile) Write(b []byte) (int, error) {
	n, _ := f.file.Write(b[:len(b)/2])
	return n, syscall.ENOSPC
}

// A run goes on if the disk has no room for its snapshots, and nothing of them stays.
func TestSnapshotsOnAFullDisk(t *testing.T) {
	for _, f := range []*fullFiles{{files: system{}, noRoom: true}, {files: system{}, breaks: true}} {
		k := newKeeper(t, 40)
		k.disk = &disk{files: f}
		k.must(t, k.drive(t, 20, nil))
		if files, err := os.ReadDir(k.dir + "/" + snapshotsDir); len(files) != 0 || f.breaks && err != nil || (f.tried > 1) != f.breaks {
			t.Errorf("%+v: %v stay (%v)", f, files, err)
		}
		f.noRoom, f.breaks = false, false
		k.must(t, k.drive(t, 10, nil))
		if h := k.examine(t); h.Snapshots != 1 || len(h.Odd) > 0 {
			t.Errorf("with room again: %+v", h)
		}
		k.must(t, k.drive(t, 100, nil))
	}
}

// slowFiles are files of which a snapshot is not synced until somebody releases it.
type slowFiles struct {
	files
	syncing atomic.Bool
	release chan struct{}
	late    atomic.Bool
}

func (f *slowFiles) open(path string, flag int) (file, error) {
	x, err := f.files.open(path, flag)
	if err == nil && strings.HasSuffix(path, unnamed) && strings.Contains(path, snapshotsDir) {
		x = slowFile{x, f}
	}
	return x, err
}

type slowFile struct {
	file
	of *slowFiles
}

func (f slowFile) Sync() error {
	f.of.syncing.Store(true)
	select {
	case <-f.of.release:
	case <-time.After(time.Minute):
		f.of.late.Store(true)
	}
	return f.file.Sync()
}

// The drive goes on while a large snapshot is written, and waits for it at its end.
func TestALargeSnapshotIsWrittenBesideTheDrive(t *testing.T) {
	k := newKeeperOf(t, "agent \"null\" {\n  type = \"null\"\n}\n\nworkflow \"w\" {\n  step \"s\" {\n    for_each = range(25000)\n    agent    = agent.null\n  }\n}\n")
	f := &slowFiles{files: system{}, release: make(chan struct{})}
	k.disk, k.every = &disk{files: f}, 5000
	released := false
	k.must(t, k.drive(t, math.MaxInt32, func([]event.Event, *event.Reaction, bool) {
		if !released && f.syncing.Load() {
			released = true
			close(f.release)
		}
	}))
	if !released || f.late.Load() {
		t.Errorf("nothing happened while the snapshot was written: released %v", released)
	}
	if left, err := os.ReadDir(k.dir + "/" + snapshotsDir); err != nil || len(left) != 0 {
		t.Errorf("the run has ended, and %v stays (%v)", left, err)
	}
}

// Prune removes the snapshot with its run, and what a crash has left; a backup has none, and a restore removes those that may be ahead.
func TestPruneAndBackupKnowSnapshots(t *testing.T) {
	k := newKeeper(t, 60)
	k.must(t, k.drive(t, 20, nil))
	e := k.engine(t)
	backup := t.TempDir() + "/b"
	k.must(t, e.Backup(context.Background(), backup))
	if _, err := os.Stat(backup + "/" + snapshotsDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the backup has snapshots: %v", err)
	}
	lost := k.dir + "/" + snapshotsDir + "/gone"
	k.must(t, os.WriteFile(lost, nil, 0o600))
	k.must(t, e.Sweep(context.Background()))
	if _, err := os.Stat(lost); !errors.Is(err, fs.ErrNotExist) || k.read(t) == nil {
		t.Errorf("Sweep leaves the snapshot of a run that is not there: %v", err)
	}
	k.must(t, e.Close())
	k.must(t, k.drive(t, 10, nil))
	k.must(t, Restore(context.Background(), k.dir, backup, Parts{Runs: true}))
	if _, err := os.Stat(k.path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a restored store has the snapshots of before: %v", err)
	}
	k.must(t, k.drive(t, 10, nil))
	e = k.engine(t)
	defer e.Close()
	k.must(t, e.Remove(context.Background(), []string{k.run}, true))
	if _, err := os.Stat(k.path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed run leaves its snapshot: %v", err)
	}
}

var keptEvents = flag.Int("kept.events", 2_000, "how many events the run has that TestALongRunIsResumed resumes")

// TestALongRunIsResumed compares a driver that begins from the snapshot of a long run with one that replays it:
//
//	go test ./runner/engine/local -run TestALongRunIsResumed -kept.events=1000000 -v
func TestALongRunIsResumed(t *testing.T) {
	const most = 100_000
	fan := ""
	for i := 0; i*most < *keptEvents; i++ {
		fan += fmt.Sprintf("  step \"s%d\" {\n    for_each = range(%d)\n    agent    = agent.null\n    with     = each.value\n  }\n", i, min(most, *keptEvents))
	}
	turns := fmt.Sprintf("  sequence \"turn\" {\n    repeat {\n      max = %d\n      until = \"false\"\n    }\n    step \"s\" {\n      for_each = range(100)\n      agent    = agent.null\n    }\n  }\n", *keptEvents/100)
	for name, steps := range map[string]string{"fan-out": fan, "turns": turns} {
		t.Run(name, func(t *testing.T) {
			k := newKeeperOf(t, "agent \"null\" {\n  type = \"null\"\n}\n\nworkflow \"w\" {\n"+steps+"}\n")
			if k.every = 0; *keptEvents < KeepEvery {
				k.every = 100
			}
			k.stopAt = uint64(*keptEvents * 9 / 10)
			began := time.Now()
			k.must(t, k.drive(t, math.MaxInt32, nil))
			t.Logf("driven in %s", time.Since(began))
			for _, how := range []string{"snapshot", "journal"} {
				k.past = how == "journal"
				began = time.Now()
				k.stopAt = 1
				k.must(t, k.drive(t, math.MaxInt32, nil))
				info, _ := os.Stat(k.path())
				t.Logf("from its %s: %s, %d events replayed, restored %d times, %d bytes", how, k.first.Sub(began), k.seen, k.restored, info.Size())
			}
		})
	}
}

// A drive writes no snapshot in its first second, and then one in fifty times the time that the last one took. One that would take longer is given
// up, and the next try comes after twice the time.
func TestSnapshotsTakeLittleTime(t *testing.T) {
	const began = time.Minute
	last := keeping{size: 10 << 20, at: began + 2*time.Second}
	pause := 10 << 20 * keepShare
	for _, c := range []struct {
		k     keeping
		after time.Duration
		early bool
	}{
		{keeping{at: began}, keepFirst - 1, true},
		{keeping{at: began}, keepFirst, false},
		{last, 2*time.Second + pause - 1, true},
		{last, 2*time.Second + pause, false},
	} {
		if early := c.k.isEarly(began+c.after, began); early != c.early {
			t.Errorf("%v after the beginning, with %+v: early is %v", c.after, c.k, early)
		}
	}
	if most := last.most(last.at + pause); most < last.size || most > last.size*4/3 {
		t.Errorf("at its turn a snapshot may have %d bytes, and the last one had %d", most, last.size)
	}
	const hours = 24
	k, tried := keeping{at: began}, time.Duration(0)
	for now := began; now < began+hours*time.Hour && !k.off; now += time.Second { // the state is never small enough
		if k.isEarly(now, began) {
			continue
		}
		most := k.most(now)
		tried += time.Duration(most) * keepShare / 50
		if now > began+time.Minute && tried > (now-began)/19 {
			t.Fatalf("%v after the beginning, tries have taken %v", now-began, tried)
		}
		k.giveUp(most)
	}
	if !k.off {
		t.Error("a state that is too large for a file is tried again and again")
	}
}

// A drive gives a snapshot up that would take too long, and goes on.
func TestALargeStateIsGivenUp(t *testing.T) {
	k := newKeeper(t, 60)
	k.must(t, k.drive(t, 20, nil))
	e := k.engine(t)
	defer e.Close()
	c, err := e.scanRun(e.read.QueryRow(runRow, k.run).Scan, k.run)
	k.must(t, err)
	m, err := e.options.Factory(c.header, k.definition)
	k.must(t, err)
	d := &drive{engine: e, run: &c, session: engine.NewSession(engine.Start{Header: c.header}, m), watch: func([]event.Event, *event.Reaction, bool) {}}
	k.must(t, d.rebuildFrom(context.Background(), 0))
	b, err := d.encodeState(maxSnapshot)
	k.must(t, err)
	if _, err := d.encodeState(len(b) / 2); !errors.Is(err, snapshot.ErrTooLong) {
		t.Errorf("of %d bytes, half are enough (%v)", len(b), err)
	}
}
