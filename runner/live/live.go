// Package live is the table of the attempts that a process carries out now: which process each is, since when, and what it said of
// its progress last. Other processes read it, to show it; it is never a source of truth, and no run depends on it.
//
// A file a run in a folder of the store, JSON, replaced as a whole and never synced. An attempt gets there when it has lived for
// [Age], so that short ones cost nothing. The time of the file's last change is a sign of life of the driver, which outlives it.
//
// What always holds: a table that is missing, damaged or old changes nothing but what is shown; nothing is written or read behind a
// symbolic link out of the store. Enter at [Table.Begin] and [Read].
package live

import (
	"encoding/json"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

const (
	// Dir is the folder of the table, below the store.
	Dir = "live"
	// Age is how long an attempt lives before it gets into the table.
	Age = 100 * time.Millisecond
	// SignEvery is how often a driver shows that it lives, where nothing else changes.
	SignEvery = time.Second
	// MaxRows bounds the attempts of a run that are told of, the oldest first, and maxFile what is read of a file.
	MaxRows = 256
	maxFile = 1 << 20
)

// Row is an attempt under way.
type Row struct {
	Ticket  uint64     `json:"ticket"`
	Node    string     `json:"node"`
	Name    string     `json:"name"`
	Attempt int        `json:"attempt"`
	Gate    string     `json:"gate,omitempty"`
	Since   event.Time `json:"since"`
	// Process is that of the attempt, 0 where it has none. Says is what an agent said of its progress last, and Heard when.
	Process int        `json:"process,omitempty"`
	Says    string     `json:"says,omitempty"`
	Heard   event.Time `json:"heard,omitempty"`
}

// Table holds the attempts of this process. It is safe for concurrent use.
type Table struct {
	store string

	files sync.Mutex // held while files are written or removed: a run is not forgotten between what Save decides and what it writes
	mu    sync.Mutex
	runs  map[string]*run
}

// run is what is known of one run, and of its file.
type run struct {
	rows    map[uint64]*Row
	changed bool      // since the file was written
	written time.Time // zero: there is no file
	idle    time.Time // since when the run has had no attempt, if it has none
}

// maxIdle is how long the table keeps a run without attempts: the run may be parked for days.
const maxIdle = time.Minute

// New makes the table of a process that drives runs of a store.
func New(store string) *Table { return &Table{store: store, runs: map[string]*run{}} }

// Begin enters an attempt, and returns what takes it out again.
func (t *Table) Begin(a *event.Attempt) (end func()) {
	if !isName(a.Run) {
		return func() {}
	}
	r := &Row{Ticket: a.Ticket, Node: a.Node, Name: a.Name, Attempt: a.Attempt, Gate: a.Gate, Since: event.At(time.Now())}
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.runs[a.Run]
	if of == nil {
		of = &run{rows: map[uint64]*Row{}}
		t.runs[a.Run] = of
	}
	of.rows[r.Ticket], of.changed = r, true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(of.rows, r.Ticket)
		of.changed, of.idle = true, time.Now()
	}
}

// Process notes the process of an attempt.
func (t *Table) Process(a *event.Attempt, pid int) {
	t.change(a, func(r *Row) { r.Process = pid })
}

// Hear notes what an attempt says; text may be "", where it says only that it lives.
func (t *Table) Hear(a *event.Attempt, text string) {
	t.change(a, func(r *Row) {
		r.Heard = event.At(time.Now())
		if text != "" {
			r.Says = text
		}
	})
}

func (t *Table) change(a *event.Attempt, do func(*Row)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of := t.runs[a.Run]; of != nil && of.rows[a.Ticket] != nil {
		do(of.rows[a.Ticket])
		of.changed = true
	}
}

// Forget takes out a run that has ended.
func (t *Table) Forget(id string) {
	t.mu.Lock()
	of := t.runs[id]
	delete(t.runs, id)
	t.mu.Unlock()
	if of != nil && !of.written.IsZero() {
		t.files.Lock()
		defer t.files.Unlock()
		_ = Remove(t.store, id)
	}
}

// Discard removes what the driver before wrote of a run, which this process is about to drive.
func (t *Table) Discard(id string) { _ = Remove(t.store, id) }

// Remove removes what the table has of a run.
func Remove(store, id string) error {
	if !isName(id) {
		return os.ErrInvalid
	}
	root, err := os.OpenRoot(store)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Remove(path.Join(Dir, id))
}

// isName reports whether an id is one of a run, and so the name of a file of its own.
func isName(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// Save writes what has changed. It is to be called every now and then, by one goroutine. That a file cannot be written is nobody's
// failure.
func (t *Table) Save() {
	t.files.Lock()
	defer t.files.Unlock()
	now := time.Now()
	var ids, idle []string
	var texts [][]byte
	t.mu.Lock()
	for id, of := range t.runs { // any order: each has a file of its own
		if len(of.rows) == 0 && now.Sub(of.idle) >= maxIdle {
			delete(t.runs, id)
			if !of.written.IsZero() {
				idle = append(idle, id)
			}
			continue
		}
		if text, due := of.save(now); due {
			ids, texts = append(ids, id), append(texts, text)
		}
	}
	t.mu.Unlock()
	for _, id := range idle {
		_ = Remove(t.store, id)
	}
	if len(ids) == 0 {
		return
	}
	root, err := os.OpenRoot(t.store)
	if err != nil {
		return
	}
	defer root.Close()
	_ = root.Mkdir(Dir, 0o700)
	for i, id := range ids {
		if texts[i] == nil {
			_ = root.Chtimes(path.Join(Dir, id), now, now)
		} else {
			_ = replace(root, path.Join(Dir, id), texts[i])
		}
	}
}

// save gives the text of a run's file, nil where it is the same, and tells whether it is time to write it or to touch it.
func (of *run) save(now time.Time) (text []byte, due bool) {
	rows := make([]*Row, 0, len(of.rows))
	for _, r := range of.rows { // any order: sorted below
		if now.Sub(r.Since.Go()) >= Age {
			rows = append(rows, r)
		}
	}
	if of.written.IsZero() && len(rows) == 0 {
		return nil, false
	}
	if !of.changed {
		if due = now.Sub(of.written) >= SignEvery; due {
			of.written = now
		}
		return nil, due
	}
	slices.SortFunc(rows, func(a, b *Row) int { return int(a.Ticket) - int(b.Ticket) })
	text, err := json.Marshal(rows[:min(len(rows), MaxRows)])
	if err != nil {
		return nil, false // numbers and texts: cannot be
	}
	of.changed, of.written = len(rows) < len(of.rows), now
	return text, true
}

func replace(root *os.Root, name string, text []byte) error {
	_ = root.Remove(name + ".new")
	f, err := root.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return root.Rename(name+".new", name)
}

// Read gives the attempts of a run as its driver wrote them last, by their tickets, and when that lived last; nothing where the
// table cannot be read. The rows are those of a driver that lives only if the run is driven now.
func Read(store, id string) (rows map[uint64]Row, sign event.Time) {
	if !isName(id) {
		return nil, 0
	}
	root, err := os.OpenRoot(store)
	if err != nil {
		return nil, 0
	}
	defer root.Close()
	name := path.Join(Dir, id)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, 0 // opening something else might wait
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0
	}
	sign = min(event.At(info.ModTime()), event.At(time.Now()))
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	var list []Row
	if err != nil || json.Unmarshal(text, &list) != nil {
		return nil, sign
	}
	rows = make(map[uint64]Row, len(list))
	for _, r := range list {
		rows[r.Ticket] = r
	}
	return rows, sign
}
