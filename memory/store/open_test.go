package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

var (
	ctx   = context.Background()
	start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// open opens a store, and closes it at the end of the test.
func open(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(id string) entry.Record {
	return entry.Record{At: start, Op: entry.Put, Entry: &entry.Entry{ID: id, Text: "text of " + id, CreatedAt: start}}
}

func appendAll(t testing.TB, s *Store, records ...entry.Record) {
	t.Helper()
	if _, err := s.Append(ctx, records...); err != nil {
		t.Fatal(err)
	}
}

// State is the state as it is now; the next write or Refresh may change it, or put another in its place.
func (s *Store) State() *entry.State {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state
}

func TestWhatIsAppendedIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".flowrun")
	s := open(t, dir, Options{})
	local := time.FixedZone("there", 3600)
	stored, err := s.Append(ctx, entry.Record{At: start.In(local), Op: entry.Put, Entry: &entry.Entry{ID: "a", Text: "bad \xff", CreatedAt: start.In(local)}}, put("b"))
	if err != nil || len(stored) != 2 || stored[1].Seq != 2 {
		t.Fatal(stored, err)
	}
	appendAll(t, s, entry.Record{At: start, Op: entry.Supersede, IDs: []string{"a"}, Other: "b"})
	if i, _ := s.State().Get("a"); i.Visible() {
		t.Error("a is not superseded")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir, Options{ReadOnly: true})
	if !reflect.DeepEqual(again.State(), s.State()) {
		t.Errorf("read back: %+v, stored: %+v", again.State(), s.State())
	}
	if _, err := again.Append(ctx, put("c")); !errors.Is(err, ErrReadOnly) {
		t.Error("a read-only store takes a record:", err)
	}
	for name, mode := range map[string]os.FileMode{"": 0o700, databaseFile: 0o600, markFile: 0o600, ".gitignore": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q: %v %v, want %v", name, info.Mode(), err, mode)
		}
	}
}

func TestARefusedBatchLeavesNothing(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	for i, want := range []error{entry.ErrNoEntry, entry.ErrExists, ErrTooLarge} {
		bad := [][]entry.Record{
			{put("x"), {Op: entry.Pin, IDs: []string{"nope"}}},
			{put("x"), put("x")},
			{put("x"), {Op: entry.Put, Entry: &entry.Entry{ID: "y", Text: string(make([]byte, MaxRecord))}}},
		}[i]
		if _, err := s.Append(ctx, bad...); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	appendAll(t, s, put("x"))
	if s.State().Last() != 1 {
		t.Error("the numbers have a gap:", s.State().Last())
	}
}

func TestNothingIsMadeForAReader(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".flowrun")
	if _, err := Open(dir, Options{ReadOnly: true}); !errors.Is(err, ErrNoStore) {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("a reader made the folder")
	}
}

func TestAFolderOfOtherThingsIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNotStore) {
		t.Error(err)
	}
}

func TestStoresSeeEachOther(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, Options{}), open(t, dir, Options{})
	appendAll(t, a, put("a1"))
	appendAll(t, b, put("b1"), entry.Record{Op: entry.Pin, IDs: []string{"a1"}})
	if changed, err := a.Refresh(ctx); !changed || err != nil {
		t.Error(changed, err)
	}
	if changed, err := a.Refresh(ctx); changed || err != nil {
		t.Error(changed, err)
	}
	if !reflect.DeepEqual(a.State(), b.State()) {
		t.Error("they see two states")
	}
	err := a.Update(ctx, func(s *entry.State) ([]entry.Record, error) {
		return []entry.Record{put(fmt.Sprint("after-", s.Last()))}, nil
	})
	if _, ok := a.State().Get("after-3"); !ok || err != nil {
		t.Error(err)
	}
}

// A folder where the database ought to be is put aside, as a damaged file is.
func TestFolderInPlaceOfTheDatabase(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	appendAll(t, s, records(0, 20)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := dir + "/" + databaseFile
	if err := errors.Join(os.Rename(path, path+".away"), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	told := ""
	s = open(t, dir, Options{Warn: func(text string) { told = text }})
	if !strings.Contains(told, "are lost") || len(s.State().Damage()) == 0 {
		t.Errorf("it says %q", told)
	}
	goesOn(t, s)
}

// steady skips, when tests are to be short, one that has nothing to race with and takes long when every step is watched.
func steady(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine, and many steps")
	}
}
