package engine_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/view"
)

// The corpus: journals of every release, which every later one replays to the same digests. A folder is a behaviour number.
// What is there is never written again: a journal that diverges means that the number must rise (ir.Behaviour) and the old
// meaning be kept for old journals. As long as no release has given the number out, the folder may be deleted and made anew:
//
//	rm testdata/journals/2/*.journal testdata/stores/*
//	go test ./runner/engine -run "TestJournals|TestStores" -journals.make -stores.make
//	go test ./runner/engine -run TestJournals -journals.from STORE    adds the runs of a store
var (
	makeJournals = flag.Bool("journals.make", false, "make the journals of constructs and patterns that have none")
	fromStore    = flag.String("journals.from", "", "add the runs of the store in this folder")
)

const corpus = "../../testdata/journals"

var corpusHere = filepath.Join(corpus, strconv.Itoa(ir.Behaviour))

// stored is a journal outside of any store. Its text is the header, the definition, and then each batch: a line of numbers
// and hashes, and its events, a line each, to the byte.
type stored struct {
	header     journal.Header
	definition []byte
	batches    []journal.Batch
}

const storedHead = "flowrun journal\n"

func (s *stored) encode() ([]byte, error) {
	if bytes.ContainsRune(s.definition, '\n') {
		return nil, errors.New("the definition has several lines")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%s\n%s\n", storedHead, s.header.Encode(), s.definition)
	for _, x := range s.batches {
		fmt.Fprintf(&b, "batch %d %d %016x %x\n%s", x.First, x.Count, x.Digest, x.Link[:], x.Body)
	}
	return b.Bytes(), nil
}

func decodeStored(text []byte) (*stored, error) {
	rest, ok := bytes.CutPrefix(text, []byte(storedHead))
	if !ok {
		return nil, errors.New("it is not a journal")
	}
	var s stored
	line := func() (l []byte) {
		l, rest, _ = bytes.Cut(rest, []byte("\n"))
		return l
	}
	var err error
	if s.header, err = journal.DecodeHeader(line()); err != nil {
		return nil, err
	}
	s.definition = line()
	for len(rest) > 0 {
		var b journal.Batch
		var link string
		if _, err := fmt.Sscanf(string(line()), "batch %d %d %x %s", &b.First, &b.Count, &b.Digest, &link); err != nil {
			return nil, err
		}
		if sum, err := hex.DecodeString(link); err != nil || copy(b.Link[:], sum) != len(b.Link) {
			return nil, fmt.Errorf("link %q: %v", link, err)
		}
		for range b.Count {
			b.Body = append(append(b.Body, line()...), '\n')
		}
		s.batches = append(s.batches, b)
	}
	return &s, nil
}

// fold replays it with this release. It gives how many events there are of each kind, and the end, if there is one.
func (s *stored) fold(slice int) (map[string]int, *event.End, error) {
	m, err := factory(s.header, s.definition)
	if err != nil {
		return nil, nil, err
	}
	f, kinds := engine.NewFold(s.header, m), map[string]int{}
	f.SetSlice(slice)
	var r event.Reaction
	for _, b := range s.batches {
		events, err := f.Replay(b, &r)
		if err != nil {
			return nil, nil, err
		}
		for _, ev := range events {
			kinds[ev.Kind()]++
		}
	}
	return kinds, f.End(), nil
}

// TestJournals replays the whole corpus.
func TestJournals(t *testing.T) {
	if *makeJournals {
		makeCorpus(t)
	}
	if *fromStore != "" {
		addStore(t, *fromStore)
	}
	files, err := filepath.Glob(corpus + "/*/*.journal")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := decodeStored(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again, err := s.encode(); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%s is not what would be written (%v)", name, err)
		}
		for _, slice := range []int{engine.Slice, 1} {
			kinds, end, err := s.fold(slice)
			if err != nil || end == nil {
				t.Fatalf("%s ends %v: %v\nWhat that means, and what to do, is written above the test.", name, end, err)
			}
			for k, n := range kinds { // any order: a sum
				all[k] += n
			}
		}
	}
	t.Logf("%d journals, events (twice): %v", len(files), all)
	if len(files) < 30 || len(all) != 6 {
		t.Errorf("%d journals with events of %d kinds: too few to mean anything", len(files), len(all))
	}
}

// TestViewsOfTheCorpus: after every event of the corpus, a run that is encoded again and again, with the texts of nodes that have not changed, is
// what encoding its document gives. A view that takes in whole batches ends as one that takes in each event.
func TestViewsOfTheCorpus(t *testing.T) {
	files, err := filepath.Glob(corpus + "/*/*.journal")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := decodeStored(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ir.Load(s.definition)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(p.Workflows, func(w ir.Workflow) bool { return w.Name == s.header.Workflow })
		if at < 0 {
			continue // a loop
		}
		byEvent, byBatch := view.New(&p.Workflows[at]), view.New(&p.Workflows[at])
		for i, r := range []*view.Run{byEvent, byBatch} {
			m, err := factory(s.header, s.definition)
			if err != nil {
				t.Fatal(err)
			}
			f := engine.NewFold(s.header, m)
			for _, b := range s.batches {
				if i == 1 {
					var out event.Reaction
					events, err := f.Replay(b, &out)
					if err != nil {
						t.Fatal(err)
					}
					r.Apply(events, &out)
					continue
				}
				err := f.Trace(b, func(ev event.Event, out *event.Reaction) bool {
					r.Apply([]event.Event{ev}, out)
					doc := r.Document()
					doc.Reason, doc.Unanswered = "known to others", []view.TryDoc{{Node: "a"}}
					want, err := json.Marshal(doc)
					if err != nil {
						t.Fatal(err)
					}
					got, err := r.Encode(func(d *view.Document) { d.Reason, d.Unanswered = doc.Reason, doc.Unanswered })
					if compared++; err != nil || !bytes.Equal(got, want) {
						t.Fatalf("%s, event %d: %v\n%s\nis not\n%s", name, ev.Seq, err, got, want)
					}
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		a, errA := json.Marshal(byEvent.Document())
		b, errB := json.Marshal(byBatch.Document())
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: event by event the run ends as\n%s\nand batch by batch as\n%s\n%v", name, a, b, err)
		}
	}
	if t.Logf("%d states of runs", compared); compared < 500 {
		t.Error("too few to mean anything")
	}
}

// TestEveryConstructHasAJournal fails where the language has grown and the corpus has not.
func TestEveryConstructHasAJournal(t *testing.T) {
	for _, name := range programs(t) {
		if _, err := os.Stat(filepath.Join(corpusHere, journalName(name, 0))); err != nil {
			t.Errorf("%v\nmake it: go test ./runner/engine -run TestJournals -journals.make", err)
		}
	}
}

// TestAChangedDigestDiverges keeps the tests above honest, and the message useful.
func TestAChangedDigestDiverges(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpusHere, "compensate.journal"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		s, err := decodeStored(text)
		if err != nil {
			t.Fatal(err)
		}
		if i == len(s.batches) {
			return
		}
		s.twist(t, i)
		_, _, err = s.fold(engine.Slice)
		var d *engine.Diverged
		if !errors.As(err, &d) || d.Event != s.batches[i].Last() {
			t.Errorf("with another digest in batch %d: %v", i, err)
		}
	}
}

// twist gives a batch another digest, and it and all behind it the links that belong to that.
func (s *stored) twist(t *testing.T, at int) {
	t.Helper()
	link := s.header.First()
	r := journal.NewReader(s.header)
	for i, b := range s.batches {
		events, err := r.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		w := journal.NewWriter(b.First, link)
		for _, ev := range events {
			if err := w.Add(ev); err != nil {
				t.Fatal(err)
			}
		}
		if i == at {
			b.Digest++
		}
		s.batches[i] = w.Cut(b.Digest)
		link = s.batches[i].Link
	}
}

// programs are the files of all patterns and constructs.
func programs(t *testing.T) (files []string) {
	t.Helper()
	for _, folder := range []string{"patterns", "constructs"} {
		found, err := filepath.Glob("../../testdata/" + folder + "/*.hcl")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, slices.DeleteFunc(found, dsl.IsTest)...)
	}
	return files
}

// journalName is the file of the nth run of a program: 0 is the one that was started, the others were called.
func journalName(program string, n int) string {
	name := strings.TrimSuffix(filepath.Base(program), ".hcl")
	if n > 0 {
		name += fmt.Sprint(".call", n)
	}
	return name + ".journal"
}

// alsoCancelled are programs of which a run that was cancelled is kept, too.
var alsoCancelled = []string{"call", "compensate", "finally", "repeat_group", "retry_backoff", "timeout", "wait_at"}

// makeCorpus runs what has no journal yet.
func makeCorpus(t *testing.T) {
	t.Helper()
	for _, file := range programs(t) {
		p := load(t, file)
		name := strings.TrimSuffix(journalName(file, 0), ".journal")
		makeJournal(t, name, p, false)
		if slices.Contains(alsoCancelled, name) {
			makeJournal(t, name+".cancelled", p, true)
		}
	}
}

// makeJournal runs a program in virtual time, with drivers that die and answers that come twice.
func makeJournal(t *testing.T, name string, p program, cancel bool) {
	t.Helper()
	runs := map[string]bool{}
	w := &virtual{}
	e := sim.New(sim.NewStore(1), sim.Options{Factory: factory, Events: awaited, World: w, DeathLimit: 100,
		Faults: sim.Faults{CrashBeforeCommit: 0.1, CrashAfterCommit: 0.1, CrashMidway: 0.1, Twice: 0.2},
		Watch:  func(run string, _ []event.Event, _ *event.Reaction, _ bool) { runs[run] = true }})
	w.ask = e.Ask
	top, err := e.Start(context.Background(), p.start())
	if err != nil {
		t.Fatal(err)
	}
	watch := func([]event.Event, *event.Reaction, bool) {
		if cancel {
			cancel, err = false, e.Cancel(context.Background(), top, "somebody changed their mind")
		}
	}
	for err = sim.ErrCrashed; errors.Is(err, sim.ErrCrashed); {
		_, err = e.Drive(context.Background(), top, watch)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	delete(runs, top)
	for n, run := range append([]string{top}, slices.Sorted(maps.Keys(runs))...) {
		keep(t, journalName(name, n), e, run)
	}
}

// addStore adds the runs of a store of the host for one computer, by the names of their workflows.
func addStore(t *testing.T, dir string) {
	t.Helper()
	e, err := local.Open(dir, local.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	runs, err := e.List(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(runs) // the oldest first
	n := map[string]int{}
	for _, i := range runs {
		n[i.Workflow]++
		keep(t, fmt.Sprintf("%s.host%d.journal", i.Workflow, n[i.Workflow]), e, i.Run)
	}
}

// keep writes the journal of a run that has ended, unless a file of that name is there.
func keep(t *testing.T, name string, e engine.Engine, run string) {
	t.Helper()
	var s stored
	var err error
	s.header, s.definition, err = e.Journal(context.Background(), run, func(b journal.Batch) error {
		s.batches = append(s.batches, b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(corpusHere, 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(corpusHere, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		t.Logf("%s is there already and stays", name)
		return
	}
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
