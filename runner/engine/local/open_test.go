package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

func TestStoreIsPrivateWhateverTheUmask(t *testing.T) {
	for _, mask := range []int{0, 0o777} {
		old := syscall.Umask(mask)
		dir := t.TempDir() // made under the mask, too
		os.Chmod(dir, 0o700)
		e, err := Open(dir+"/.flowrun", Options{Factory: enginetest.Factory, Executor: answersOK})
		if err == nil {
			run := begin(t, e, enginetest.Chain(2))
			_, err = e.Drive(context.Background(), run, nil)
			e.Close()
		}
		syscall.Umask(old)
		if err != nil {
			t.Fatalf("umask %o: %v", mask, err)
		}
		filepath.Walk(dir+"/.flowrun", func(path string, i os.FileInfo, err error) error {
			if err != nil || i.Mode().Perm()&0o077 != 0 {
				t.Errorf("umask %o: %s is %v, %v", mask, path, i.Mode(), err)
			}
			return nil
		})
		if b, err := os.ReadFile(dir + "/.flowrun/.gitignore"); err != nil || string(b) != "*\n" {
			t.Errorf(".gitignore holds %q, %v", b, err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir() + "/.flowrun"
	if _, err := Open(dir, Options{ReadOnly: true}); !errors.Is(err, engine.ErrNoStore) {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("reading made a store")
	}
	dir, run, _ := finished(t, 3)
	e, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if list, err := e.List(context.Background(), 0); err != nil || len(list) != 1 || list[0].Run != run {
		t.Errorf("the list is %v, %v", list, err)
	}
	_, start := e.Start(context.Background(), enginetest.Chain(1).Start())
	_, drive := e.Drive(context.Background(), run, nil)
	for _, err := range []error{start, drive, e.Cancel(context.Background(), run, "")} {
		if !errors.Is(err, engine.ErrReadOnly) {
			t.Errorf("a write gives %v", err)
		}
	}
}

// TestReadOnlyFolder reads a store where nothing can be written, as from an image or another user's folder. Who is root may
// write anywhere, so there the folder is only said to be frozen.
func TestReadOnlyFolder(t *testing.T) {
	dir, run, _ := finished(t, 3)
	if os.Chmod(dir, 0o500) != nil || os.Chmod(filepath.Join(dir, databaseFile), 0o400) != nil {
		t.Fatal("the folder's mode cannot be changed")
	}
	defer os.Chmod(dir, 0o700)
	if want := os.Geteuid() != 0; isFrozen(dir) != want {
		t.Errorf("the folder is frozen: %v, want %v", !want, want)
	}
	e, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if i, err := e.Get(context.Background(), run); err != nil || i.Status != event.Succeeded {
		t.Errorf("the run is %v, %v", i, err)
	}
}

func TestWrongDatabases(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(t *testing.T, dir string)
		want error
	}{
		"removed":  {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, databaseFile)) }, ErrReplaced},
		"emptied":  {func(t *testing.T, dir string) { os.Truncate(filepath.Join(dir, databaseFile), 0) }, ErrReplaced},
		"another":  {func(t *testing.T, dir string) { alter(t, dir, "UPDATE store SET id = 'another'") }, ErrReplaced},
		"of other": {func(t *testing.T, dir string) { alter(t, dir, "PRAGMA application_id = 1") }, ErrReplaced},
	} {
		for _, readOnly := range []bool{false, true} {
			if readOnly && name == "of other" {
				continue // the id tells
			}
			dir, _, _ := finished(t, 1)
			c.harm(t, dir)
			if _, err := Open(dir, Options{ReadOnly: readOnly}); !errors.Is(err, c.want) {
				t.Errorf("a database that was %s, reading %v: %v", name, readOnly, err)
			}
		}
	}
}

func TestStoreReplacedWhileOpen(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run := begin(t, e, enginetest.Program{Tasks: []enginetest.Task{{Name: "a", Wait: 1e18}}})
	if err := os.Rename(filepath.Join(s.dir, databaseFile), filepath.Join(s.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Drive(context.Background(), run, nil); !errors.Is(err, ErrReplaced) {
		t.Errorf("the store is gone, and Drive says %v", err)
	}
}

func TestNewerStoreIsRefused(t *testing.T) {
	dir, _, _ := finished(t, 1)
	alter(t, dir, "PRAGMA user_version = 999")
	for _, readOnly := range []bool{false, true} {
		var newer *engine.NewerStore
		if _, err := Open(dir, Options{ReadOnly: readOnly}); !errors.As(err, &newer) || newer.Have != 999 {
			t.Errorf("got %v", err)
		}
	}
}

func TestStoreFromBeforeTheFirstReleaseIsRefused(t *testing.T) {
	dir, _, _ := finished(t, 1)
	alter(t, dir, fmt.Sprintf("PRAGMA user_version = %d", firstVersion-1))
	for _, readOnly := range []bool{false, true} {
		if _, err := Open(dir, Options{ReadOnly: readOnly}); !errors.Is(err, engine.ErrUnreleased) || !strings.Contains(err.Error(), dir) {
			t.Errorf("got %v", err)
		}
	}
}

func TestOlderStoreIsBroughtForwardAndKept(t *testing.T) {
	dir, run, _ := finished(t, 3)
	defer func(old []string) { migrations = old }(migrations)
	migrations = append(migrations[:len(migrations):len(migrations)], "CREATE TABLE later (x INTEGER) STRICT")
	var older *engine.OlderStore
	if _, err := Open(dir, Options{ReadOnly: true}); !errors.As(err, &older) {
		t.Errorf("reading an older store gives %v", err)
	}
	if err := driveAgain(t, dir, run); err != nil {
		t.Fatal(err)
	}
	now := latestVersion() - 1
	path := filepath.Join(dir, fmt.Sprintf("%s.v%d", databaseFile, now))
	if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o600 {
		t.Fatalf("the copy: %v, %v", i, err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var version, runs int
	if err := errors.Join(db.QueryRow("PRAGMA user_version").Scan(&version), db.QueryRow("SELECT count(*) FROM runs").Scan(&runs)); err != nil || version != now || runs != 1 {
		t.Errorf("the copy has version %d and %d runs, %v", version, runs, err)
	}
}

func TestFailedMigrationLeavesTheStoreAsItWas(t *testing.T) {
	dir, run, _ := finished(t, 3)
	func() {
		defer func(old []string) { migrations = old }(migrations)
		migrations = append(migrations[:len(migrations):len(migrations)], "CREATE TABLE later (x INTEGER) STRICT; CREATE TABLE runs (x)")
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("version %d", latestVersion())) {
			t.Errorf("got %v", err)
		}
	}()
	if err := driveAgain(t, dir, run); err != nil {
		t.Errorf("the old release finds %v", err)
	}
}

func TestOpenMakesUpForACutOffStart(t *testing.T) {
	dir, run, _ := finished(t, 1)
	os.Remove(filepath.Join(dir, identityFile)) // as if the process had died before it was written
	if err := driveAgain(t, dir, run); err != nil {
		t.Error(err)
	}
	if id, err := readIdentity(dir); err != nil || id == "" {
		t.Errorf("the identity is %q, %v", id, err)
	}
}

// A store whose making is cut off between two migrations is made on, however often that happens.
func TestOpenMakesUpForAMakingThatWasCutOff(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	defer func(old []string) { migrations = old }(migrations)
	all := append(migrations[:len(migrations):len(migrations)], "CREATE TABLE later (x INTEGER) STRICT")
	for n := 1; n <= len(all); n++ {
		migrations = all[:n]
		e, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("after %d of %d migrations: %v", n-1, len(all), err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if n < len(all) { // as if the process had died before the identity was written
			os.Remove(filepath.Join(dir, identityFile))
			migrations = all
			if _, err := Open(dir, Options{ReadOnly: true}); !errors.Is(err, engine.ErrNoStore) {
				t.Errorf("who reads a store that has %d of %d migrations so far is told %v", n, len(all), err)
			}
		}
	}
	if copies, _ := filepath.Glob(filepath.Join(dir, databaseFile+".v*")); len(copies) > 0 {
		t.Errorf("there are copies of nothing: %v", copies)
	}
}

func TestPathsThatURLsWouldMisread(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c#d%20e&_pragma=synchronous(OFF)", ".flowrun")
	e, err := Open(dir, Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := os.Stat(filepath.Join(dir, databaseFile)); err != nil {
		t.Error(err)
	}
	run := begin(t, e, enginetest.Chain(2))
	if end, err := e.Drive(context.Background(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Error(end, err)
	}
}

func TestFoldersOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNotStore) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".gitignore")); err == nil {
		t.Error("the folder was changed all the same")
	}
}

func TestBadRunIDsAreRefused(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory})
	for id, good := range map[string]bool{"../x": false, "a/b": false, "A": false, "-a": false, "a-1": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false} {
		start := enginetest.Chain(1).Start()
		start.Header.Run = id
		if _, err := e.Start(context.Background(), start); (err == nil) != good {
			t.Errorf("run %q: %v", id, err)
		}
	}
}
