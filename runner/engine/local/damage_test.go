package local

import (
	"context"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// finished is a closed store with one run that has ended, and the run's events.
func finished(t *testing.T, n int) (dir, run string, events []event.Event) {
	t.Helper()
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run = begin(t, e, enginetest.Chain(n))
	if _, err := e.Drive(context.Background(), run, nil); err != nil {
		t.Fatal(err)
	}
	events, err := eventsOf(e, run)
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	return s.dir, run, events
}

// alter runs a statement on a store's database behind its back.
func alter(t *testing.T, dir, query string, args ...any) {
	t.Helper()
	w, err := openWriter(dir, realDisk)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.ExecContext(context.Background(), "PRAGMA foreign_keys = 0"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ExecContext(context.Background(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// driveAgain opens the store afresh and drives, which replays and checks all.
func driveAgain(t *testing.T, dir, run string) error {
	t.Helper()
	e, err := Open(dir, Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.Drive(context.Background(), run, nil)
	return err
}

func TestDamageIsNamed(t *testing.T) {
	for name, damage := range map[string]struct {
		alter string
		says  string
	}{
		"an event":        {"UPDATE batches SET body = CAST(replace(CAST(body AS TEXT), '\"t2\"', '\"t3\"') AS BLOB) WHERE first = 4", "events 4 to 4"},
		"a digest":        {"UPDATE batches SET digest = digest + 1 WHERE first = 4", "events 4 to 4"},
		"a link":          {"UPDATE batches SET link = zeroblob(32) WHERE first = 4", "events 4 to 4"},
		"a short link":    {"UPDATE batches SET link = x'00' WHERE first = 4", "events 4 to 4"},
		"a missing batch": {"DELETE FROM batches WHERE first = 4", "event 4 was expected"},
		"a missing tail":  {"DELETE FROM batches WHERE first = 6", "ends at event 5"},
		"a missing start": {"DELETE FROM batches WHERE first = 1", "event 1 was expected"},
		"no batch":        {"DELETE FROM batches", "journal is empty"},
		"the header":      {"UPDATE runs SET header = CAST(replace(CAST(header AS TEXT), 'test', 'tost') AS BLOB)", "events 1 to 1"},
		"no header":       {"UPDATE runs SET header = x'7b'", "header"},
		"the definition":  {"UPDATE definitions SET body = CAST(CAST(body AS TEXT) || ' ' AS BLOB)", "definition"},
		"no definition":   {"DELETE FROM definitions", "definition"},
		"the row's link":  {"UPDATE runs SET link = zeroblob(32)", "link"},
		"the row's end":   {"UPDATE runs SET seq = 7", "its row says 7"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, run, _ := finished(t, 5)
			alter(t, dir, damage.alter)
			err := driveAgain(t, dir, run)
			if !errors.Is(err, journal.ErrBroken) || !strings.Contains(err.Error(), damage.says) {
				t.Errorf("got %v, want one about %q", err, damage.says)
			}
		})
	}
}

// TestDamagedDatabaseIsNamed overwrites parts of the file: who meets that hears which store it is and what to do, not only
// what SQLite calls it.
func TestDamagedDatabaseIsNamed(t *testing.T) {
	for name, at := range map[string]int64{"its beginning": 0, "its tables": 4096} {
		dir, run, _ := finished(t, 200)
		f, err := os.OpenFile(filepath.Join(dir, databaseFile), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		noise := make([]byte, min(info.Size()-at, 1<<20))
		for i := range noise {
			noise[i] = byte(i*7 + i/251)
		}
		if _, err := f.WriteAt(noise, at); err != nil {
			t.Fatal(err)
		}
		f.Close()
		for what, do := range map[string]func(*Engine) error{
			"list":  func(e *Engine) error { _, err := e.List(context.Background(), 0); return err },
			"drive": func(e *Engine) error { _, err := e.Drive(context.Background(), run, nil); return err },
			"start": func(e *Engine) error {
				_, err := e.Start(context.Background(), enginetest.Chain(1).Start())
				return err
			},
			"cancel": func(e *Engine) error { return e.Cancel(context.Background(), run, "") },
		} {
			e, err := Open(dir, Options{Factory: enginetest.Factory, Executor: answersOK})
			if err == nil {
				err = do(e)
				e.Close()
			}
			var told *engine.Damaged
			if !errors.As(err, &told) || told.Dir != dir || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "copy the folder") {
				t.Errorf("%s of a store with noise in %s: %v", what, name, err)
			}
		}
	}
}

// TestMissingTailIsNoticed cuts a journal so that all of the database fits together again.
func TestMissingTailIsNoticed(t *testing.T) {
	dir, run, _ := finished(t, 5)
	alter(t, dir, "DELETE FROM batches WHERE first > 3")
	alter(t, dir, "UPDATE runs SET seq = 3, ended = 0, link = (SELECT link FROM batches WHERE first = 3)")
	err := driveAgain(t, dir, run)
	if !errors.Is(err, journal.ErrBroken) || !strings.Contains(err.Error(), "ends at event 3, but events up to 6 were stored") {
		t.Errorf("got %v", err)
	}
}

// TestRowAndJournalDisagreeAboutTheEnd undoes what a row says about the end: then the journal decides.
func TestRowAndJournalDisagreeAboutTheEnd(t *testing.T) {
	dir, run, _ := finished(t, 5)
	alter(t, dir, "UPDATE runs SET ended = 0, status = 'running', clean = 0")
	if err := driveAgain(t, dir, run); err != nil {
		t.Error(err)
	}
	e, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if i, err := e.Get(context.Background(), run); err != nil || i.Status != event.Succeeded || i.Ended == 0 {
		t.Errorf("the row says %+v, %v", i, err)
	}
}

// TestFlippedBytesAreNeverSilent flips bytes of the closed database file, and cuts it: either nothing of the run is
// touched, or an error says so.
func TestFlippedBytesAreNeverSilent(t *testing.T) {
	dir, run, want := finished(t, 20)
	path := filepath.Join(dir, databaseFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cases := 300
	if testing.Short() {
		cases = 60
	}
	random := rand.New(rand.NewSource(1))
	caught := 0
	for i := range cases {
		broken := append([]byte(nil), whole...)
		at := random.Intn(len(broken))
		if i%3 == 2 {
			broken = broken[:at]
		} else {
			broken[at] ^= 1 << random.Intn(8)
		}
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		have, err := readAll(dir, run)
		switch {
		case err != nil:
			caught++
		case !reflect.DeepEqual(have, want):
			t.Errorf("case %d, byte %d: another journal, and no error", i, at)
		}
		os.Remove(path + "-wal")
		os.Remove(path + "-shm")
	}
	t.Logf("%d of %d were noticed; the others touched nothing of the run", caught, cases)
}

func readAll(dir, run string) (list []event.Event, err error) {
	e, err := Open(dir, Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if _, err := e.Drive(context.Background(), run, nil); err != nil {
		return nil, err
	}
	return eventsOf(e, run)
}

func TestMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	one, two := journal.Link{1}, journal.Link{2}
	if err := checkMark(path, "run", 5, one); err != nil {
		t.Errorf("no mark: %v", err)
	}
	m, err := realDisk.openMark(path, "run")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.writeMark(4, two), m.writeMark(5, one), m.close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		seq  uint64
		link journal.Link
		ok   bool
	}{{5, one, true}, {6, two, true}, {5, two, false}, {4, two, false}} {
		if err := checkMark(path, "run", c.seq, c.link); (err == nil) != c.ok || err != nil && !errors.Is(err, journal.ErrBroken) {
			t.Errorf("a journal up to %d with %s under a mark at 5 with %s: %v", c.seq, c.link, one, err)
		}
	}
	if err := checkMark(path, "other", 1, one); err != nil {
		t.Errorf("a mark of another run says nothing: %v", err)
	}
	os.Truncate(path, int64(markSize-1))
	if err := checkMark(path, "run", 1, one); err != nil {
		t.Errorf("a mark that was cut off says nothing: %v", err)
	}
}

// TestMachineThatPanicsStopsItsRunOnly shows that a machine's defect ends one drive and harms nothing.
func TestMachineThatPanicsStopsItsRunOnly(t *testing.T) {
	s := newStore(t)
	faulty := func(h journal.Header, d []byte) (engine.Machine, error) {
		m, err := enginetest.Factory(h, d)
		return &panics{m}, err
	}
	e := s.open(t, Options{Factory: faulty, Executor: answersOK})
	run := begin(t, e, enginetest.Chain(3))
	if _, err := e.Drive(context.Background(), run, nil); err == nil || !strings.Contains(err.Error(), "failed after event 1: impossible") {
		t.Errorf("got %v", err)
	}
	e.Close()
	if err := driveAgain(t, s.dir, run); err != nil {
		t.Errorf("the run cannot go on: %v", err)
	}
}

type panics struct{ engine.Machine }

func (p *panics) Step(ev event.Event) error {
	if ev.AttemptFinished != nil {
		panic("impossible")
	}
	return p.Machine.Step(ev)
}
