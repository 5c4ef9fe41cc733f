package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/entry"
)

func TestCheckFindsWhatNobodyReads(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	appendAll(t, s, records(1, 40)...)
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 || r.Records != 44 || r.Entries != 40 || r.Bytes == 0 {
		t.Fatalf("%+v %v", r, err)
	}
	for name, statement := range map[string]string{
		"a copy":         "UPDATE copies SET body = x'00' WHERE seq = 7",
		"another copy":   "DELETE FROM copies WHERE seq = 8",
		"a name":         "UPDATE names SET sum = x'00' WHERE seq = 9",
		"a missing name": "DELETE FROM names WHERE seq = 10",
	} {
		if err := s.db.exec(statement); err != nil {
			t.Fatal(err)
		}
		r, err := s.Check(ctx)
		if err != nil || len(r.Problems) == 0 {
			t.Errorf("%s: %+v %v", name, r, err)
		}
		before := s.State()
		if err := s.Rebuild(ctx); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 || len(r.Damaged) == 0 {
			t.Errorf("%s after the rebuild: %+v %v", name, r, err)
		}
		if !reflect.DeepEqual(before, s.State()) {
			t.Errorf("%s: the rebuild changed the state", name)
		}
	}
}

func TestOnlySomeDamagedFilesAreKept(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	appendAll(t, s, put("a"))
	for range keptDamaged + 3 {
		if err := s.Rebuild(ctx); err != nil {
			t.Fatal(err)
		}
	}
	names, err := s.Damaged()
	databases := 0
	for _, name := range names {
		if !strings.HasSuffix(name, "-wal") {
			databases++
		}
	}
	if err != nil || databases != keptDamaged {
		t.Errorf("%q %v", names, err)
	}
}

// TestAReplacedDatabaseIsNoticed rebuilds the store behind the back of others that have it open.
func TestAReplacedDatabaseIsNoticed(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, Options{}), open(t, dir, Options{})
	appendAll(t, a, put("a1"))
	if err := b.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	appendAll(t, a, put("a2"))
	appendAll(t, b, put("b1"))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	appendAll(t, b, put("b2"))
	c := open(t, dir, Options{})
	if c.State().Last() != 4 || !reflect.DeepEqual(c.State(), b.State()) {
		t.Errorf("%d records of 4", c.State().Last())
	}
}

// TestADamageOfWritingIsMended breaks the second table, which only writing reads.
func TestADamageOfWritingIsMended(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	appendAll(t, s, records(1, 40)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	told := ""
	s = open(t, dir, Options{Warn: func(text string) { told = text }})
	var root int
	if err := s.db.ask("SELECT rootpage FROM sqlite_schema WHERE name = 'copies'", &root); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	overwrite(t, filepath.Join(dir, databaseFile), int64(root-1)*pageSize, bytes.Repeat([]byte{0xff}, pageSize))
	s = open(t, dir, Options{Warn: func(text string) { told = text }})
	if told != "" {
		t.Fatal("the damage was found too early for this test:", told)
	}
	appendAll(t, s, put("new"))
	if !strings.Contains(told, "all 44 records are there") {
		t.Errorf("%q", told)
	}
	if r, err := s.Check(ctx); err != nil || len(r.Problems) > 0 || r.Entries != 41 {
		t.Errorf("%+v %v", r, err)
	}
}

func overwrite(t testing.TB, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

func TestARestoredCopyIsNoticed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	appendAll(t, s, put("a"), put("b"))
	s.Close()
	old := readFiles(t, dir)[databaseFile]
	s = open(t, dir, Options{})
	appendAll(t, s, put("c"), put("d"))
	s.Close()
	if err := os.WriteFile(filepath.Join(dir, databaseFile), old, 0o600); err != nil {
		t.Fatal(err)
	}
	told := ""
	s = open(t, dir, Options{Warn: func(text string) { told = text }})
	if l := s.State().Damage(); len(l) != 1 || l[0].From != 3 || l[0].Seq != 4 || !strings.Contains(told, "2 of 4 records are lost") {
		t.Errorf("%+v %q", l, told)
	}
	goesOn(t, s)
}

func TestAnotherStoresDatabaseIsNoticed(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		s := open(t, dir, Options{})
		appendAll(t, s, put(filepath.Base(dir)))
		s.Close()
	}
	b := readFiles(t, two)[databaseFile]
	if err := os.WriteFile(filepath.Join(one, databaseFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	told := ""
	s := open(t, one, Options{Warn: func(text string) { told = text }})
	if !strings.Contains(told, "not the one that was here") || s.State().Len() != 1 {
		t.Errorf("%q", told)
	}
	goesOn(t, s)
}

func TestADatabaseOfSomebodyElseIsRefused(t *testing.T) {
	dir := t.TempDir()
	text := bytes.Repeat([]byte("not a database. "), 1000)
	if err := os.WriteFile(filepath.Join(dir, databaseFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), ErrNotStore.Error()) {
		t.Error(err)
	}
	if b := readFiles(t, dir)[databaseFile]; !bytes.Equal(b, text) {
		t.Error("it was changed")
	}
}

// TestWhereNobodyCanWrite reads stores that were closed and killed without touching them.
func TestWhereNobodyCanWrite(t *testing.T) {
	images, was := stores(t)
	for kind, f := range images {
		dir := f.write(t)
		s := open(t, dir, Options{frozen: true, Warn: func(text string) { t.Error(kind, text) }})
		if !reflect.DeepEqual(s.State(), was) {
			t.Errorf("%s: another state", kind)
		}
		if _, err := s.Append(ctx, put("new")); err == nil {
			t.Errorf("%s: it takes a record", kind)
		}
		if changed, err := s.Refresh(ctx); changed || err != nil {
			t.Errorf("%s: %v %v", kind, changed, err)
		}
		if _, err := s.Check(ctx); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if !reflect.DeepEqual(readFiles(t, dir), f) {
			t.Errorf("%s: the files were touched", kind)
		}
		if err := os.Truncate(filepath.Join(dir, databaseFile), 20*pageSize); err != nil {
			t.Fatal(err)
		}
		told := ""
		s = open(t, dir, Options{frozen: true, Warn: func(text string) { told = text }})
		if n := survived(t, s, was); (n < was.Len()) != (told != "") {
			t.Errorf("%s cut off: %d of %d entries, told %q", kind, n, was.Len(), told)
		}
		s.Close()
	}
}

// TestASwapThatWasCutOffIsFinished stops a rebuild between each two steps.
func TestASwapThatWasCutOffIsFinished(t *testing.T) {
	images, was := stores(t)
	for step := range 4 {
		dir := images["killed"].write(t)
		s := &Store{dir: dir, options: Options{}, state: &entry.State{}}
		f, err := s.search()
		if err != nil {
			t.Fatal(err)
		}
		h, err := f.history(context.Canceled, start)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.writeFresh(h); err != nil {
			t.Fatal(err)
		}
		for _, move := range [][2]string{{logFile, damagedFile + "x-wal"}, {sharedFile, "memory.gone"}, {databaseFile, damagedFile + "x"}}[:step] {
			if err := os.Rename(filepath.Join(dir, move[0]), filepath.Join(dir, move[1])); err != nil {
				t.Fatal(err)
			}
		}
		again := open(t, dir, Options{Warn: func(text string) { t.Error(step, text) }})
		if !reflect.DeepEqual(again.State(), was) {
			t.Errorf("cut off after %d steps it is another one", step)
		}
		goesOn(t, again)
	}
}

func TestAFolderThatIsTakenAwayIsNotWrittenTo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".flowrun")
	s := open(t, dir, Options{Warn: func(text string) { t.Error(text) }})
	appendAll(t, s, put("a"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(ctx, put("b")); !errors.Is(err, errGone) {
		t.Error(err)
	}
	appendAll(t, open(t, dir, Options{}), put("c"))
	if _, err := s.Append(ctx, put("b")); !errors.Is(err, errGone) {
		t.Error(err)
	}
	if _, found := s.State().Get("a"); !found {
		t.Error("what was read is not shown any more")
	}
}
