package local

import (
	"context"
	"errors"
	"flag"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

var flipCases = flag.Int("local.flips", 80, "how many bits TestDamageAtRest flips, and how many files it cuts")

// TestDamageAtRest flips one bit of any file of a store, or cuts one file, in a store that was left behind by a process that was
// killed: with a log. What was acknowledged is all there, or an error says what is broken.
func TestDamageAtRest(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	want := map[string][]event.Event{}
	var runs []string
	drive := func(p enginetest.Program) {
		run := begin(t, e, p)
		if _, err := e.Drive(context.Background(), run, nil); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
		want[run] = journalOf(t, e, run)
	}
	drive(enginetest.Chain(30))
	if _, err := e.commits.exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	drive(enginetest.Chain(10)) // these are in the log alone
	drive(enginetest.Chain(4))
	files := map[string][]byte{}
	var names []string
	err := filepath.WalkDir(s.dir, func(path string, entry os.DirEntry, err error) error {
		name := strings.TrimPrefix(path, s.dir+"/")
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "-shm") || strings.HasSuffix(name, ".lock") {
			return err
		}
		files[name], err = os.ReadFile(path)
		if len(files[name]) > 0 {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(files[databaseFile+"-wal"]) == 0 {
		t.Fatal(names, err)
	}
	random := rand.New(rand.NewSource(1))
	hit, told := map[string]int{}, 0
	for i := range 2 * *flipCases {
		name := names[random.Intn(len(names))]
		if i%4 < 2 { // the large ones more often
			name = []string{databaseFile, databaseFile + "-wal"}[i%2]
		}
		hit[strings.SplitN(name, "/", 2)[0]]++
		broken := append([]byte(nil), files[name]...)
		at := random.Intn(len(broken))
		if i < *flipCases {
			broken[at] ^= 1 << random.Intn(8)
		} else {
			broken = broken[:at]
		}
		dir := t.TempDir()
		for n, b := range files {
			if n == name {
				b = broken
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, n)), 0o700), os.WriteFile(filepath.Join(dir, n), b, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		said := false
		for _, run := range runs {
			have, err := readAll(dir, run)
			if err != nil {
				said = true
				if !strings.Contains(err.Error(), dir) && !strings.Contains(err.Error(), run) {
					t.Errorf("case %d, %s at %d: neither store nor run is named by %v", i, name, at, err)
				}
			} else if !reflect.DeepEqual(have, want[run]) {
				t.Errorf("case %d, %s at %d: run %s has another journal, and no error", i, name, at, run)
			}
		}
		if said {
			told++
		}
	}
	t.Logf("%d bits flipped and %d files cut (%v): %d were noticed, the others touched nothing of a run; 0 silent", *flipCases, *flipCases, hit, told)
	if told < *flipCases/4 {
		t.Errorf("only %d of %d were noticed", told, 2**flipCases)
	}
}
