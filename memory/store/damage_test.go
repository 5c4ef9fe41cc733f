package store

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/private/durable"
)

var (
	flips = flag.Int("flips", 24, "how many bytes are flipped, each in a store of its own")
	cuts  = flag.Int("cuts", 24, "how many stores are cut off somewhere")
)

// records are n entries of some 400 bytes, some of them longer than a page, and now and then a record about one.
func records(from, n int) []entry.Record { return entries(from, n, 37) }

// entries have one longer than a page in every long.
func entries(from, n, long int) (list []entry.Record) {
	random := rand.New(rand.NewSource(int64(from)))
	for i := from; i < from+n; i++ {
		words := make([]string, 40)
		if i%long == 0 {
			words = make([]string, 3000)
		}
		for w := range words {
			words[w] = fmt.Sprintf("w%d", random.Intn(5000))
		}
		at := start.Add(time.Duration(i) * time.Second)
		e := &entry.Entry{ID: fmt.Sprintf("D%d:%d", i/30, i%30), Agent: "one", Type: entry.Failure, Session: "s", CreatedAt: at,
			Text: strings.Join(words, " "), By: entry.Source{Run: "r1", Author: "agent:one", Trust: entry.ByRule}}
		list = append(list, entry.Record{At: at, Op: entry.Put, Entry: e})
		if i%10 == 9 {
			list = append(list, entry.Record{At: at, Op: entry.Use, IDs: []string{e.ID}})
		}
	}
	return list
}

// image is the files of a store, as the death of its process leaves them.
type filesOf map[string][]byte

func readFiles(t testing.TB, dir string) filesOf {
	t.Helper()
	files := filesOf{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = b
	}
	return files
}

func (f filesOf) write(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, b := range f {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names of the files that are worth damaging, in order.
func (f filesOf) names() (names []string) {
	for name, b := range f {
		if len(b) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// stores are what may be damaged: one that was closed, one that was killed with all of it in the log, and one that was killed with
// some of it there.
func stores(t testing.TB) (states map[string]filesOf, state *entry.State) {
	t.Helper()
	states = map[string]filesOf{}
	for _, kind := range []string{"closed", "killed", "killed halfway"} {
		dir := t.TempDir()
		s := open(t, dir, Options{})
		for from := 0; from < 300; from += 20 {
			if from == 160 && kind == "killed halfway" {
				if err := durable.Settle(s.db.Conn); err != nil {
					t.Fatal(err)
				}
			}
			appendAll(t, s, records(from, 20)...)
		}
		state = s.State()
		if kind == "closed" {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		states[kind] = readFiles(t, dir)
		if log := len(states[kind][logFile]); (kind == "closed") != (log == 0) {
			t.Fatalf("%s: a log of %d bytes", kind, log)
		}
	}
	return states, state
}

// survived counts the entries that a store still has. Each that it lost must be named, or its number must be, and what it has must
// be what was stored.
func survived(t testing.TB, s *Store, was *entry.State) (kept int) {
	t.Helper()
	now := s.State()
	if now.Last() < was.Last() {
		t.Errorf("it ends at record %d of %d", now.Last(), was.Last())
	}
	covered := func(seq uint64) bool {
		return slices.ContainsFunc(now.Damage(), func(l entry.Loss) bool { return l.From <= seq && seq <= l.Seq })
	}
	for _, want := range was.All() {
		have, found := now.Get(want.ID)
		switch {
		case !found && !now.IsLost(want.ID) && !covered(want.Seq):
			t.Errorf("%s (record %d) is lost in silence: %v", want.ID, want.Seq, now.Damage())
		case !found:
		case have.Text != want.Text || have.Seq != want.Seq:
			t.Errorf("%s is not what was stored", want.ID)
		default:
			kept++
		}
	}
	if len(now.Damage()) == 0 && !reflect.DeepEqual(now, was) {
		t.Error("no loss is told, and the state is another one")
	}
	return kept
}

// goesOn checks that a store that was opened after damage takes records and can be opened once more, without a word.
func goesOn(t testing.TB, s *Store) {
	t.Helper()
	appendAll(t, s, put("later"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again := open(t, s.dir, Options{Warn: func(text string) { t.Error("a second warning:", text) }})
	if !reflect.DeepEqual(again.State(), s.State()) {
		t.Error("opened once more, it is another one")
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestOneFlippedByteLosesNothing flips a byte anywhere in any file of the folder.
func TestOneFlippedByteLosesNothing(t *testing.T) {
	steady(t)
	images, was := stores(t)
	random := rand.New(rand.NewSource(2))
	felt, all := 0, 0
	for i := range *flips {
		kind := []string{"closed", "killed", "killed halfway"}[i%3]
		f := images[kind]
		names := f.names()
		name := names[random.Intn(len(names))]
		if i%2 == 0 { // the large ones, half of the time
			name = []string{databaseFile, logFile, logFile}[i%3]
		}
		at := random.Intn(len(f[name]))
		if i%5 == 0 {
			at = random.Intn(min(len(f[name]), 200)) // where files tell what they are
		}
		change := byte(1 + random.Intn(255))
		dir := f.write(t)
		b := slices.Clone(f[name])
		b[at] ^= change
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		told := ""
		s, err := Open(dir, Options{Warn: func(text string) { told = text }})
		if err != nil {
			t.Errorf("%s, %s, byte %d ^ %#x: it does not open: %v", kind, name, at, change, err)
			continue
		}
		if told != "" {
			felt++
		}
		all++
		if n := survived(t, s, was); n != was.Len() {
			t.Errorf("%s, %s, byte %d ^ %#x: %d of %d entries are left: %s", kind, name, at, change, n, was.Len(), told)
		}
		goesOn(t, s)
		if t.Failed() {
			t.Fatalf("%s, %s, byte %d ^ %#x: %s", kind, name, at, change, told)
		}
	}
	if felt == 0 {
		t.Error("no flip was felt")
	}
	t.Logf("%d flips, %d led to a rebuild, no entry was lost", all, felt)
}

// TestACutNamesWhatItTook cuts the database or its log off anywhere.
func TestACutNamesWhatItTook(t *testing.T) {
	steady(t)
	images, was := stores(t)
	random := rand.New(rand.NewSource(3))
	rebuilt, lossy, lost := 0, 0, 0
	for i := range *cuts {
		kind := []string{"closed", "killed", "killed halfway"}[i%3]
		f := images[kind]
		name := databaseFile
		if kind != "closed" && i%2 == 0 {
			name = logFile
		}
		at := random.Intn(len(f[name]))
		if i%7 == 0 {
			at = 0
		}
		dir := f.write(t)
		if err := os.Truncate(filepath.Join(dir, name), int64(at)); err != nil {
			t.Fatal(err)
		}
		told := ""
		s, err := Open(dir, Options{Warn: func(text string) { told = text }})
		if err != nil {
			t.Fatalf("%s, %s cut at %d: it does not open: %v", kind, name, at, err)
		}
		if told != "" {
			rebuilt++
		}
		if n := was.Len() - survived(t, s, was); n > 0 {
			lossy, lost = lossy+1, lost+n
			if !strings.Contains(told, "lost") {
				t.Errorf("%d entries are lost, and nobody is told: %q", n, told)
			}
		}
		goesOn(t, s)
		if t.Failed() {
			t.Fatalf("%s, %s cut at %d: %s", kind, name, at, told)
		}
	}
	if rebuilt == 0 || lossy == 0 {
		t.Errorf("%d cuts led to a rebuild, %d took something", rebuilt, lossy)
	}
	t.Logf("%d cuts, %d led to a rebuild, %d took something: %d entries in all, each named or numbered", *cuts, rebuilt, lossy, lost)
}
