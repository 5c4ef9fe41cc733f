package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestForeignJournals has journals that are whole and that this release does not repeat, or must not read: the command says
// so, with the event or the number, ends with exit code 3, and leaves the journal as it is. Put right, the run goes on.
func TestForeignJournals(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	s := newHolding(t, mortalBinary(t), 1)
	p := s.start(t, "", "apply", "w.flow.hcl")
	s.begun(t, 1)
	p.Process.Kill()
	p.wait(t)
	p = s.start(t, "", "resume", s.run) // so that there are two batches
	s.begun(t, 2)
	p.Process.Kill()
	p.wait(t)
	whole := s.stored(t)
	if len(whole.batches) != 2 {
		t.Fatalf("the journal has %d batches", len(whole.batches))
	}
	for _, x := range []struct {
		name   string
		change func(*row)
		want   []string
	}{
		{"the first digest", func(r *row) { r.batches[0].Digest++ }, []string{"run " + s.run + " diverged at event 1:", "with the release that started it"}},
		{"the last digest", func(r *row) { r.batches[1].Digest++ }, []string{"run " + s.run + " diverged at event 2:", "with the release that started it"}},
		{"a newer format", func(r *row) { r.header.Format = journal.Format + 1 }, []string{fmt.Sprintf("has format %d; this release reads format %d: use a newer flowrun", journal.Format+1, journal.Format)}},
		{"newer rules", func(r *row) { r.header.Behaviour = 99 }, []string{"follows rules of number 99; this release knows them up to", "use a newer flowrun"}},
	} {
		changed := whole
		changed.batches = append([]journal.Batch(nil), whole.batches...)
		x.change(&changed)
		changed.seal(t)
		s.put(t, changed)
		for _, words := range [][]string{{"resume", s.run}, {"runs", "show", s.run}} {
			c := s.command("", words...)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			_ = c.Run()
			if code := c.ProcessState.ExitCode(); code != 3 {
				t.Errorf("%s: %q ends with %d", x.name, words, code)
			}
			for _, want := range x.want {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("%s: %q says\n%s\nwithout %q", x.name, words, stderr.String(), want)
				}
			}
		}
		if after := s.stored(t); !reflect.DeepEqual(after, changed) {
			t.Errorf("%s: the journal was changed", x.name)
		}
	}
	s.put(t, whole)
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := s.command("", "resume", s.run); c.Run() != nil {
		t.Errorf("put right, resume ends with %v", c.ProcessState)
	}
}

// row is a run as the database has it.
type row struct {
	header  journal.Header
	batches []journal.Batch
}

// database opens the store behind the back of flowrun.
func (s *sunk) database(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.store(), "flowrun.db")+"?mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func (s *sunk) stored(t *testing.T) (r row) {
	t.Helper()
	db := s.database(t)
	defer db.Close()
	var header, link []byte
	var key int64
	if err := db.QueryRow("SELECT key, header FROM runs WHERE id = ?", s.run).Scan(&key, &header); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(header, &r.header); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("SELECT first, count, digest, link, body FROM batches WHERE run = ? ORDER BY first", key)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var b journal.Batch
		var digest int64
		if err := rows.Scan(&b.First, &b.Count, &digest, &link, &b.Body); err != nil {
			t.Fatal(err)
		}
		b.Digest = uint64(digest)
		copy(b.Link[:], link)
		r.batches = append(r.batches, b)
	}
	return r
}

// seal gives the batches the links that belong to their header and digests.
func (r *row) seal(t *testing.T) {
	t.Helper()
	link := r.header.First()
	for i, b := range r.batches {
		w := journal.NewWriter(b.First, link)
		for _, line := range bytes.Split(bytes.TrimSpace(b.Body), []byte("\n")) {
			var ev event.Event
			if err := json.Unmarshal(line, &ev); err != nil {
				t.Fatal(err)
			}
			if err := w.Add(ev); err != nil {
				t.Fatal(err)
			}
		}
		r.batches[i] = w.Cut(b.Digest)
		link = r.batches[i].Link
	}
}

// put writes a run back, and takes away the mark that was beside it.
func (s *sunk) put(t *testing.T, r row) {
	t.Helper()
	db := s.database(t)
	defer db.Close()
	last := r.batches[len(r.batches)-1]
	do := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	do("UPDATE runs SET header = ?, link = ? WHERE id = ?", r.header.Encode(), last.Link[:], s.run)
	for _, b := range r.batches {
		do("UPDATE batches SET digest = ?, link = ?, body = ? WHERE first = ? AND run = (SELECT key FROM runs WHERE id = ?)",
			int64(b.Digest), b.Link[:], b.Body, b.First, s.run)
	}
	if err := os.Remove(filepath.Join(s.store(), "marks", s.run)); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}
