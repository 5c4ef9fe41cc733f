package engine_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
)

// The stores of every schema that there has been, each with a run that has ended and one over which a process died. They are
// kept as the journals are: what is there is not written again, and a schema without a store fails the test.
var makeStores = flag.Bool("stores.make", false, "make the stores of schemas that have none")

const (
	stores     = "../../testdata/stores"
	endedRun   = "call.call1" // journals of the corpus
	crashedRun = "compensate"

	firstVersion = 14 // of the schema, after the first migration
)

// TestStores opens each of them with this release: it is brought forward, with a copy of what it was, both runs replay, and
// the one that had not ended does.
func TestStores(t *testing.T) {
	schema, err := filepath.Glob("local/migrations/*.sql")
	if err != nil || len(schema) == 0 {
		t.Fatal(schema, err)
	}
	for i := range schema {
		version, latest := firstVersion+i, firstVersion+len(schema)-1
		name := fmt.Sprintf("%s/v%d.db.gz", stores, version)
		if *makeStores {
			makeStore(t, name, schema[:i+1], version)
		}
		t.Run(fmt.Sprint("v", version), func(t *testing.T) { openOld(t, name, version, latest) })
	}
}

func openOld(t *testing.T, name string, version, latest int) {
	dir := unpackStore(t, name)
	if _, err := local.Open(dir, local.Options{ReadOnly: true}); version < latest && !errors.As(err, new(*engine.OlderStore)) {
		t.Errorf("for reading only it opens with %v", err)
	}
	e, err := local.Open(dir, local.Options{Factory: factory, Events: awaited, Executor: new(virtual).hurried(speeds[0]), Clock: quick{time.Now(), speeds[0]}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	copied := filepath.Join(dir, fmt.Sprintf("flowrun.db.v%d", version))
	if _, err := os.Stat(copied); version < latest && err != nil {
		t.Errorf("there is no copy of what it was: %v", err)
	}
	runs, err := e.List(context.Background(), 0)
	if err != nil || len(runs) != 2 {
		t.Fatalf("it has the runs %v, %v", runs, err)
	}
	for _, i := range runs {
		replayed := 0
		end, err := e.Drive(context.Background(), i.Run, func(events []event.Event, _ *event.Reaction, past bool) {
			if past {
				replayed += len(events)
			}
		})
		if err != nil || !end.Status.Terminal() || replayed == 0 || uint64(replayed) != i.Events {
			t.Errorf("run %s of %s ends %s after a past of %d events of %d: %v", i.Run, i.Workflow, end.Status, replayed, i.Events, err)
		}
	}
	again, err := e.List(context.Background(), 0)
	if err != nil || !again[0].Status.Terminal() || !again[1].Status.Terminal() {
		t.Errorf("the list says %+v, %v", again, err)
	}
}

func unpackStore(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v\nmake it: go test ./runner/engine -run TestStores -stores.make", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	db, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), ".flowrun")
	for _, folder := range []string{dir, filepath.Join(dir, "drivers"), filepath.Join(dir, "marks")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"flowrun.db": string(db), "store": "oldstore2345\n"} { // any order
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// makeStore makes a database of an old schema, with what stood in it then.
func makeStore(t *testing.T, name string, schema []string, version int) {
	t.Helper()
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Logf("%s is there already and stays (%v)", name, err)
		return
	}
	path := filepath.Join(t.TempDir(), "flowrun.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	do := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range schema {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		do(string(text))
	}
	do(fmt.Sprintf("PRAGMA user_version = %d", version))
	do(fmt.Sprintf("PRAGMA application_id = %d", 0x666c6f77))
	do("INSERT INTO store (one, id) VALUES (1, 'oldstore2345')")
	for _, run := range []string{endedRun, crashedRun} {
		insertStored(t, do, run)
	}
	do("VACUUM")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	keepStore(t, path, name)
}

// insertStored inserts a run of the corpus, by the columns that there have always been: whole, or only how it began, in the
// hands of a process that is dead.
func insertStored(t *testing.T, do func(string, ...any), name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpusHere, name+".journal"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := decodeStored(text)
	if err != nil {
		t.Fatal(err)
	}
	id := s.header.Run
	_, end, err := s.fold(1)
	if err != nil {
		t.Fatal(err)
	}
	status, ended, owner, clean := string(end.Status), int64(s.header.Created)+1, any(nil), 1
	if name == crashedRun {
		s.batches, status, ended, owner, clean = s.batches[:1], "running", 0, 7, 0
	}
	sum := sha256.Sum256(s.definition)
	do("INSERT INTO definitions (hash, sum, packed, body) VALUES (?, ?, 0, ?)", s.header.Definition, sum[:], s.definition)
	last := s.batches[len(s.batches)-1]
	do(`INSERT INTO runs (id, header, definition, workflow, created, ended, status, driven, owner, clean, seq, link)
		VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)`, id, s.header.Encode(), s.header.Definition, s.header.Workflow,
		int64(s.header.Created), ended, status, owner, clean, int64(last.Last()), last.Link[:])
	for _, b := range s.batches {
		do("INSERT INTO batches (run, first, count, digest, link, body) VALUES ((SELECT key FROM runs WHERE id = ?), ?, ?, ?, ?, ?)",
			id, int64(b.First), b.Count, int64(b.Digest), b.Link[:], b.Body)
	}
}

func keepStore(t *testing.T, path, name string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // an error is for a wrong level only
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.MkdirAll(stores, 0o777)
	}
	if err == nil {
		err = os.WriteFile(name, b.Bytes(), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
