package live

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

func attempt(ticket uint64) *event.Attempt {
	return &event.Attempt{Run: "aaaa22222222", Ticket: ticket, Node: "build/api[3]", Name: "api", Attempt: 2}
}

func TestTable(t *testing.T) {
	store := t.TempDir()
	table, a, began := New(store), attempt(7), time.Now()
	end := table.Begin(a)
	table.Process(a, 4242)
	table.Save()
	if _, err := os.Stat(filepath.Join(store, Dir)); err == nil && time.Since(began) < Age {
		t.Error("an attempt that has just begun costs a file")
	}
	time.Sleep(Age)
	table.Hear(a, "40 %")
	table.Hear(a, "")
	table.Save()
	rows, sign := Read(store, a.Run)
	r := rows[7]
	if len(rows) != 1 || r.Node != a.Node || r.Attempt != 2 || r.Process != 4242 || r.Says != "40 %" || r.Heard < r.Since {
		t.Errorf("the table is %+v, sign %v", rows, sign)
	}
	for _, written := range []time.Time{time.Now().Add(-time.Hour), time.Now().Add(time.Hour)} {
		if err := os.Chtimes(filepath.Join(store, Dir, a.Run), written, written); err != nil {
			t.Fatal(err)
		}
		_, sign := Read(store, a.Run)
		if now := event.At(time.Now()); sign > now || written.Before(began) && sign != event.At(written) || written.After(began) && sign < event.At(began) {
			t.Errorf("the file was written at %v, the sign is %v, and now it is %v", event.At(written), sign, now)
		}
	}
	if info, err := os.Stat(filepath.Join(store, Dir, a.Run)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if next := New(store); len(rows) == 1 {
		next.Discard(a.Run)
		if rows, _ := Read(store, a.Run); len(rows) != 0 {
			t.Errorf("the next driver has the rows of this one: %+v", rows)
		}
	}
	end()
	table.Save()
	if rows, sign := Read(store, a.Run); len(rows) != 0 || sign == 0 {
		t.Errorf("after its end, the table is %+v, sign %v", rows, sign)
	}
	table.runs[a.Run].idle = time.Now().Add(-maxIdle)
	table.Save()
	if _, sign := Read(store, a.Run); sign != 0 || len(table.runs) != 0 {
		t.Errorf("the table keeps %d runs that have had no attempt for long, sign %v", len(table.runs), sign)
	}
	table.Begin(a)()
	table.Save()
	if len(table.runs) != 1 {
		t.Error("a run that has just had an attempt is not kept")
	}
	table.Forget(a.Run)
	if _, sign := Read(store, a.Run); sign != 0 {
		t.Error("a run that has ended is still there")
	}
}

// A run that ends while the table is written leaves no file.
func TestForgetWhileSaving(t *testing.T) {
	store := t.TempDir()
	table, a := New(store), attempt(1)
	for range 500 {
		table.Begin(a)
		table.runs[a.Run].rows[a.Ticket].Since = event.At(time.Now().Add(-Age))
		saved := make(chan struct{})
		go func() {
			table.Save()
			close(saved)
		}()
		for !table.saves(a.Run) {
			runtime.Gosched()
		}
		table.Forget(a.Run)
		<-saved
		if _, sign := Read(store, a.Run); sign != 0 {
			t.Fatal("the file of a run that has ended is still there")
		}
	}
}

// saves reports whether Save has decided to write a run's file.
func (t *Table) saves(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.runs[id].written.IsZero()
}

// The time of the file is a sign of life, and nothing else is written while nothing changes.
func TestSign(t *testing.T) {
	store := t.TempDir()
	table := New(store)
	table.Begin(attempt(1))
	time.Sleep(Age)
	table.Save()
	file := filepath.Join(store, Dir, "aaaa22222222")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(file)
	table.runs["aaaa22222222"].written = old
	table.Save()
	after, _ := os.Stat(file)
	if !os.SameFile(before, after) || time.Since(after.ModTime()) > time.Minute {
		t.Errorf("the file was written at %v, and is another one: %t", after.ModTime(), !os.SameFile(before, after))
	}
}

// Whatever lies in the place of the table, nothing fails and nothing outside is touched.
func TestNoTable(t *testing.T) {
	const table = `[{"ticket":5,"node":"n"}]`
	precious := filepath.Join(t.TempDir(), "aaaa22222222") // a table, so that whoever follows a link reads it
	for name, spoil := range map[string]func(store string) error{
		"nothing":            func(string) error { return nil },
		"a file for a store": func(store string) error { os.Remove(store); return os.WriteFile(store, nil, 0o600) },
		"a file":             func(store string) error { return os.WriteFile(filepath.Join(store, Dir), nil, 0o600) },
		"a link out":         func(store string) error { return os.Symlink(filepath.Dir(precious), filepath.Join(store, Dir)) },
		"a link for a file": func(store string) error {
			return os.Symlink(precious, filepath.Join(mkdir(store), "aaaa22222222"))
		},
		"a link for a new file": func(store string) error {
			return os.Symlink(precious, filepath.Join(mkdir(store), "aaaa22222222.new"))
		},
		"a folder for a file": func(store string) error { return os.Mkdir(filepath.Join(mkdir(store), "aaaa22222222"), 0o700) },
		"damage": func(store string) error {
			return os.WriteFile(filepath.Join(mkdir(store), "aaaa22222222"), []byte(`[{"ticket":-1`), 0o600)
		},
		"damage behind a row": func(store string) error {
			return os.WriteFile(filepath.Join(mkdir(store), "aaaa22222222"), []byte(`[{"ticket":5},{"ticket":"five"}]`), 0o600)
		},
		"a pipe": func(store string) error { return syscall.Mkfifo(filepath.Join(mkdir(store), "aaaa22222222"), 0o600) },
	} {
		if err := os.WriteFile(precious, []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
		store := t.TempDir()
		if err := spoil(store); err != nil {
			t.Fatal(err)
		}
		if rows, _ := Read(store, "aaaa22222222"); len(rows) != 0 {
			t.Errorf("%s is read as %+v", name, rows)
		}
		mine := New(store)
		mine.Begin(attempt(1))
		time.Sleep(Age)
		mine.Save()
		mine.Forget("aaaa22222222")
		if text, err := os.ReadFile(precious); string(text) != table {
			t.Errorf("%s: what lies outside is %q (%v)", name, text, err)
		}
		if files, _ := os.ReadDir(filepath.Dir(precious)); len(files) != 1 {
			t.Errorf("%s: outside there is more: %v", name, files)
		}
	}
}

func mkdir(store string) string {
	dir := filepath.Join(store, Dir)
	os.Mkdir(dir, 0o700)
	return dir
}
