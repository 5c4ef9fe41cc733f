package memory_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/embed"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/eval"
	"github.com/flowrun/flowrun/memory/learn"
)

var alikeLarge = flag.Bool("alike.large", false, "group all sizes of piles, up to thousands; a minute or two of CPU")

// alikeLines are learnings by subject: as people and agents write them, and failures as the recorder words them. They were
// written for this before anything was measured with them.
//
//go:embed testdata/alike.jsonl
var alikeLines []byte

// subject is what learnings are about, each of them in words of its own.
type subject struct {
	name    string
	entries []entry.Entry
}

// readSubjects gives those of the file, and of the evaluation, whose learnings are one subject each.
func readSubjects(t *testing.T) (out []subject) {
	t.Helper()
	at := map[string]int{}
	put := func(name string, e entry.Entry) {
		if _, ok := at[name]; !ok {
			at[name] = len(out)
			out = append(out, subject{name: name})
		}
		s := &out[at[name]]
		e.ID, e.Agent, e.Scope, e.By = fmt.Sprintf("%s/%d", name, len(s.entries)), "sam", entry.OfAgent("sam"), rule
		s.entries = append(s.entries, e)
	}
	for line := range bytes.Lines(alikeLines) {
		var l struct {
			Subject, Step, Task, Command, Reason, Stderr string
			entry.Entry
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		if l.Task != "" {
			l.Entry = recorded(l.Step, l.Task, l.Command, l.Reason, l.Stderr)
		}
		put(l.Subject, l.Entry)
	}
	sets, err := eval.Sets()
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(sets[slices.IndexFunc(sets, func(s eval.Set) bool { return s.Name == "learnings" })].Entries) {
		var e entry.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		put(e.ID, e)
	}
	return out
}

func recorded(step, task, command, reason, stderr string) entry.Entry {
	p := learn.Problem{Reason: reason, Command: command, Stderr: stderr}
	switch reason {
	case "exit":
		p.ExitCode, p.Message = 1, "exited with 1"
	case "not_found":
		p.Message = stderr
	default:
		p.Message, p.Stderr = stderr, ""
	}
	return learn.FromTask(learn.Task{Agent: "sam", Run: "r", Step: step, Text: task, Attempts: 1, Problem: &p, Trust: entry.ByAgent, At: start})
}

// madeUp are subjects as many tasks of one service leave them behind: few forms of errors, and many names in them.
func madeUp(n int) (out []subject) {
	r := rand.New(rand.NewPCG(7, 7))
	word := func(of string) string { w := strings.Fields(of); return w[r.IntN(len(w))] }
	const things = "invoice session cart customer payment report order address coupon shipment ledger profile token webhook export queue quota tenant audit currency refund basket voucher parcel"
	const verbs = "load parse render store merge encode check list send count split resolve"
	tasks := map[string][]string{
		"build": {"Build the service for linux.", "Build the release and its images."},
		"test":  {"Implement the ticket and make all tests pass.", "Fix the bug of the ticket and add a test for it."},
		"lint":  {"Fix what the linter reports.", "Clean up the package and keep the linter quiet."},
		"run":   {"Run the nightly jobs.", "Run the import of the month."},
	}
	for k := range n {
		thing, verb, other := word(things), word(verbs), word(things)
		s := subject{name: fmt.Sprint("made-", k)}
		for i := range 1 + r.IntN(5) {
			line, step, err := 10+r.IntN(300), "", ""
			switch k % 8 {
			case 0:
				step, err = "build", fmt.Sprintf("./%s.go:%d:%d: undefined: %s%s%d", thing, line, 1+i, verb, strings.ToUpper(other[:1])+other[1:], k)
			case 1:
				step, err = "test", fmt.Sprintf("%s_test.go:%d: %s of %s %d: got %d, want %d", thing, line, verb, other, k, r.IntN(99), r.IntN(99))
			case 2:
				step, err = "run", fmt.Sprintf("ERROR connection refused: %s-%s-%d:5432 after %d tries", thing, other, k, 1+i)
			case 3:
				step, err = "lint", fmt.Sprintf("%s/%s%d.go:%d:3: result of %s is not used (unusedresult)", thing, verb, k, line, other)
			case 4:
				step, err = "run", fmt.Sprintf("File \"/app/%s.py\", line %d\nKeyError: '%s_%s_%d'", thing, line, other, verb, k)
			case 5:
				step, err = "run", fmt.Sprintf("error: relation \"%s_%s_%d\" does not exist (after %dms)", thing, other, k, line)
			case 6:
				step, err = "build", fmt.Sprintf("%s/%s%d.ts(%d,7): error TS2339: Property '%s' does not exist on type '%s'", thing, verb, k, line, other, thing)
			case 7:
				step, err = "test", fmt.Sprintf("panic: %s %s %d: timed out after %ds", verb, thing, k, line)
			}
			e := recorded(step, tasks[step][r.IntN(2)], "make "+step, "exit", err+"\n")
			e.ID, e.By = fmt.Sprintf("%s/%d", s.name, i), rule
			s.entries = append(s.entries, e)
		}
		out = append(out, s)
	}
	return out
}

// grouping counts what came of the pairs of learnings that a pile has, and of its groups.
type grouping struct {
	items, pairs, found, wrong, groups, mixed int
	cpu                                       time.Duration
}

func (g grouping) String() string {
	return fmt.Sprintf("%5d learnings: of %4d alike pairs %4d in one group, %3d distinct pairs too; of %3d groups %3d mixed; %v",
		g.items, g.pairs, g.found, g.wrong, g.groups, g.mixed, g.cpu.Round(time.Millisecond))
}

func (g *grouping) add(o grouping) {
	g.items, g.pairs, g.found, g.wrong = g.items+o.items, g.pairs+o.pairs, g.found+o.found, g.wrong+o.wrong
	g.groups, g.mixed, g.cpu = g.groups+o.groups, g.mixed+o.mixed, g.cpu+o.cpu
}

// group has a memory consolidate a pile, in one go or every few, and counts. Doing it again must change nothing.
func group(t *testing.T, e embed.Embedder, pile []entry.Entry, every int) grouping {
	t.Helper()
	ctx := context.Background()
	at := start
	m, err := memory.Open(t.TempDir()+"/store", memory.Options{Embedder: e, WordVectors: e != nil, ConsolidateEvery: every,
		Now: func() time.Time { at = at.Add(time.Second); return at }})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for part := range slices.Chunk(pile, 10) {
		add(t, m, part...)
	}
	before := cpu()
	if _, err := m.Consolidate(ctx, "sam"); err != nil {
		t.Fatal(err)
	}
	g := grouping{items: len(pile), cpu: cpu() - before}
	if again, err := m.Consolidate(ctx, "sam"); err != nil || len(again) > 0 {
		t.Errorf("%d learnings consolidated again make %d patterns, %v", len(pile), len(again), err)
	}
	items, err := m.List(ctx, memory.Filter{Viewer: everything, Type: entry.Pattern})
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]int{}
	for n, i := range items {
		g.groups++
		about := map[string]bool{}
		for _, id := range i.DerivedFrom {
			in[id], about[subjectName(id)] = n+1, true
		}
		if len(about) > 1 {
			g.mixed++
		}
	}
	for n := range pile {
		for k := range n {
			a, b := pile[n].ID, pile[k].ID
			together, alike := in[a] > 0 && in[a] == in[b], subjectName(a) == subjectName(b)
			switch {
			case alike && together:
				g.pairs, g.found = g.pairs+1, g.found+1
			case alike:
				g.pairs++
			case together:
				g.wrong++
			}
		}
	}
	return g
}

func subjectName(id string) string { name, _, _ := strings.Cut(id, "/"); return name }

// draw takes whole subjects until there are n learnings, and mixes them.
func draw(r *rand.Rand, from []subject, n int) (out []entry.Entry) {
	for _, i := range r.Perm(len(from)) {
		out = append(out, from[i].entries...)
	}
	out = out[:min(n, len(out))]
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// remembering asks an embedder once for each text.
type remembering struct {
	embed.Embedder
	mu    sync.Mutex
	known map[string][]float32
}

func (r *remembering) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([][]float32, len(texts))
	for i, s := range texts {
		if _, ok := r.known[s]; !ok {
			v, err := r.Embedder.Embed(ctx, []string{s})
			if err != nil {
				return nil, err
			}
			r.known[s] = v[0]
		}
		out[i] = r.known[s]
	}
	return out, nil
}

// TestAlike counts how many learnings of one subject come under one pattern, and how many of others with them, in piles of all
// sizes, with the default embedder and with words alone.
func TestAlike(t *testing.T) {
	steady(t)
	subjects := readSubjects(t)
	by := map[string][]subject{}
	for n, s := range subjects {
		kind := "hand"
		if s.entries[0].Auto {
			kind = "recorder"
		}
		if len(s.entries) > 1 || *alikeLarge || n%3 == 0 { // embedding all takes long
			by[kind] = append(by[kind], s)
		}
	}
	e := &remembering{Embedder: embed.Default(), known: map[string][]float32{}}
	sizes, rounds := []int{3, 10, 100}, 40
	if *alikeLarge {
		sizes, rounds = []int{3, 5, 10, 30, 100}, 200
	}
	for _, with := range []embed.Embedder{e, nil} {
		for _, kind := range []string{"hand", "recorder"} {
			var total grouping
			for _, size := range sizes {
				var all grouping
				for n := range max(1, rounds/size) {
					all.add(group(t, with, draw(rand.New(rand.NewPCG(uint64(size), uint64(n))), by[kind], size), 0))
				}
				t.Logf("vectors %-5t piles of %3d, %-8s %v", with != nil, size, kind, all)
				total.add(all)
			}
			if 10*total.found < 8*total.pairs || 20*total.wrong > total.pairs {
				t.Errorf("vectors %t, %s: %v", with != nil, kind, total)
			}
		}
	}
	if !*alikeLarge {
		return
	}
	subjects = append(subjects, madeUp(400)...)
	for _, size := range []int{100, 300, 1000} {
		pile := draw(rand.New(rand.NewPCG(1, 2)), subjects, size)
		for _, every := range []int{0, 10} {
			t.Logf("every %2d: %v", every, group(t, e, pile, every))
		}
	}
}
