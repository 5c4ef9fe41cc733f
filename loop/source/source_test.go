package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/command"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/shared"
)

// bench is an executor of sources with a store in memory.
type bench struct {
	t    *testing.T
	x    *Executor
	mu   sync.Mutex
	rows *shared.Map
	now  event.Time
	dir  string
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, rows: &shared.Map{}, now: event.At(time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)), dir: t.TempDir()}
	registry := executor.Registry{}
	requests := http.New(http.Options{})
	t.Cleanup(requests.Close)
	registry.Register(requests, event.HTTPAttempt)
	registry.Register(command.New(command.Options{LogDir: t.TempDir()}), event.RunAttempt)
	b.x = New(registry, b.ask)
	return b
}

func (b *bench) ask(_ context.Context, r event.StoreRequest) (value.Value, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now++
	a, err := shared.Apply(b.rows, &r, shared.Waiter{}, b.now)
	return a.Output, err
}

// claim takes an item and gives the token.
func (b *bench) claim(source, id string) uint64 {
	b.t.Helper()
	v, err := b.ask(context.Background(), event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimTake, Item: source + "/" + id, Loop: "l", Agent: "sam", Lease: time.Hour}})
	if err != nil {
		b.t.Fatal(err)
	}
	c, err := event.ClaimOf(v)
	if err != nil || !c.Won {
		b.t.Fatalf("%+v, %v", c, err)
	}
	return c.Token
}

func (b *bench) release(source, id string, token uint64) {
	b.t.Helper()
	if _, err := b.ask(context.Background(), event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimRelease, Item: source + "/" + id, Token: token}}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) answer(r event.SourceRequest) event.AttemptFinished {
	r.Loop, r.Agent = "l", "sam"
	if r.Source == "" {
		r.Source = "work"
	}
	r.List = r.Source
	return b.x.Execute(context.Background(), event.Attempt{Ticket: 1, Node: r.Source, Kind: event.SourceAttempt, Key: "key", Dir: b.dir, Source: &r,
		Base: map[string]string{"PATH": os.Getenv("PATH")}, Timeout: 2 * time.Minute})
}

// output asks a source that must answer.
func (b *bench) output(r event.SourceRequest) map[string]any {
	b.t.Helper()
	ans := b.answer(r)
	if ans.Outcome != event.OK {
		b.t.Fatalf("%s: %+v", r.Verb, ans.Error)
	}
	o, _ := ans.Output.(map[string]any)
	return o
}

func (b *bench) items(r event.SourceRequest) (out []event.Item) {
	b.t.Helper()
	r.Verb = event.SourceList
	for _, v := range b.output(r)["items"].([]any) {
		it, err := event.ItemOf(v)
		if err != nil {
			b.t.Fatal(err)
		}
		out = append(out, it)
	}
	return out
}

func (b *bench) write(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) read(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := os.Remove(filepath.Join(b.dir, name)); err != nil {
		b.t.Fatal(err)
	}
}

func said(items []event.Item) string {
	var out []string
	for _, it := range items {
		s := it.Title
		if len(it.Needs) > 0 {
			s += fmt.Sprint(" needs ", it.Needs)
		}
		if it.Assignee != "" {
			s += " of " + it.Assignee
		}
		if it.Closed {
			s += " closed"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

const list = "# Work\n\n- [ ] first #1 P1\n- [ ] second #2 @leo\n- [ ] third #3 (depends on #5)\n  - [ ] part #4\n- [x] fifth #5\n- [x] sixth #6\n- [/] seventh #7\n- [?] eighth #8\n"

func fileRequest(verb event.SourceVerb, id string) event.SourceRequest {
	r := event.SourceRequest{Kind: ir.SourceFile, Verb: verb, Config: map[string]value.Value{"path": "TODO.md"}}
	if id != "" {
		r.Item = &event.Item{ID: id, Title: "t"}
	}
	return r
}

// An item goes through a file: listed, taken, ticked off. Nothing but its mark changes.
func TestFile(t *testing.T) {
	b := newBench(t)
	b.write("TODO.md", list)
	if have := said(b.items(fileRequest(event.SourceList, ""))); have != "first; second of leo; third needs [5 4]; part; fifth closed; seventh of somebody else" {
		t.Error(have)
	}
	take := fileRequest(event.SourceTake, "1")
	take.Token = b.claim("work", "1")
	if o := b.output(take); o["ok"] != true {
		t.Errorf("take: %v", o)
	}
	if have := b.read("TODO.md"); have != strings.Replace(list, "[ ] first", "[/] first", 1) {
		t.Error(have)
	}
	if items := b.items(fileRequest(event.SourceList, "")); items[0].Assignee != "" || items[0].Priority != 2 {
		t.Errorf("a taken item: %+v", items[0])
	}
	b.output(take) // again, because the answer got lost
	report := fileRequest(event.SourceReport, "1")
	report.Token, report.Outcome = take.Token, &event.ItemOutcome{Status: event.ItemClosed}
	if o := b.output(report); o["ok"] != true || o["closed"] != true {
		t.Errorf("report: %v", o)
	}
	if have := b.read("TODO.md"); have != strings.Replace(list, "[ ] first", "[x] first", 1) {
		t.Error(have)
	}
	for _, verb := range []event.SourceVerb{event.SourceLook, event.SourceTake, event.SourceReport} {
		r := report
		if r.Verb = verb; b.output(r)["ok"] != false || b.output(r)["closed"] != true {
			t.Errorf("%s of a closed item: %v", verb, b.output(r))
		}
	}
	if o := b.output(fileRequest(event.SourceLook, "99")); o["ok"] != false || o["closed"] != true {
		t.Errorf("an item that is gone: %v", o)
	}
	if o := b.output(fileRequest(event.SourceLook, "2")); o["ok"] != true || o["closed"] != false {
		t.Errorf("an open item: %v", o)
	}
}

// What fails is given back to the file.
func TestFileGetsItemsBack(t *testing.T) {
	b := newBench(t)
	b.write("TODO.md", list)
	r := fileRequest(event.SourceTake, "2")
	r.Token = b.claim("work", "2")
	b.output(r)
	r.Verb, r.Outcome = event.SourceReport, &event.ItemOutcome{Status: event.ItemFailed}
	b.output(r)
	if have := b.read("TODO.md"); have != list {
		t.Error(have)
	}
	created := fileRequest(event.SourceCreate, "")
	created.Item = &event.Item{Title: "new one", Labels: []string{"tag"}}
	o := b.output(created)
	if have := b.read("TODO.md"); have != list+"- [ ] new one #tag\n" || o["id"] == "" || o["duplicate"] != false {
		t.Errorf("%v: %s", o, have)
	}
	again := b.output(created)
	if again["id"] != o["id"] || again["duplicate"] != true || b.read("TODO.md") != list+"- [ ] new one #tag\n" {
		t.Errorf("%v", again)
	}
}

// A write whose token is not the newest is refused by every source, and nothing is written.
func TestOldTokens(t *testing.T) {
	b := newBench(t)
	b.write("TODO.md", list)
	hits := 0
	fake := newFake(t)
	fake.seen = func(method string) {
		if method != "GET" {
			hits++
		}
	}
	program := b.write("tracker", "#!/bin/sh\necho used >> used\necho '{\"ok\": true}'\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	for kind, config := range map[ir.SourceKind]map[string]value.Value{
		ir.SourceFile:   {"path": "TODO.md"},
		ir.SourceGitHub: {"repo": "acme/app", "base_url": fake.url},
		ir.SourceExec:   {"command": []any{"./tracker"}},
		ir.SourceHTTP:   {"url": fake.url + "/hook"},
	} {
		name := string(kind)
		old := b.claim(name, "1")
		b.release(name, "1", old)
		b.claim(name, "1")
		for _, verb := range []event.SourceVerb{event.SourceTake, event.SourceReport} {
			for _, token := range []uint64{old, 0, old + 2} {
				o := b.output(event.SourceRequest{Kind: kind, Source: name, Verb: verb, Config: config, Token: token, Item: &event.Item{ID: "1", Title: "t"}, Outcome: &event.ItemOutcome{Status: event.ItemClosed}})
				if why, _ := o["why"].(string); o["ok"] != false || !strings.Contains(why, "does not have the item") {
					t.Errorf("%s %s with token %d: %v", kind, verb, token, o)
				}
			}
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "used")); !errors.Is(err, os.ErrNotExist) || hits != 0 || b.read("TODO.md") != list {
		t.Errorf("something was written: %v, %d requests", err, hits)
	}
}

// Somebody saves the file between the reading and the writing: their text stays, and the mark is set in it.
func TestFileChangedUnderUs(t *testing.T) {
	b := newBench(t)
	path := b.write("TODO.md", list)
	changes := 0
	beforeWrite = func(string) {
		if changes++; changes < 3 {
			text := b.read("TODO.md") + fmt.Sprintf("- [ ] added %d\n", changes)
			_ = os.Remove(path)
			b.write("TODO.md", text)
		}
	}
	defer func() { beforeWrite = nil }()
	r := fileRequest(event.SourceTake, "1")
	r.Token = b.claim("work", "1")
	b.output(r)
	if have := b.read("TODO.md"); have != strings.Replace(list, "[ ] first", "[/] first", 1)+"- [ ] added 1\n- [ ] added 2\n" {
		t.Error(have)
	}
	beforeWrite = func(string) { b.write("TODO.md", b.read("TODO.md")+"\n") }
	r = fileRequest(event.SourceTake, "3")
	r.Token = b.claim("work", "3")
	if ans := b.answer(r); ans.Error == nil || ans.Error.Kind != event.Transient || !strings.Contains(ans.Error.Message, "changed each time") {
		t.Errorf("%+v", ans.Error)
	}
}

// Many processes tick items off one file at once. None is lost. An edit that changes the size keeps mode and links.
func TestFileTogether(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "- [] item #%d\n", i+1) // each first edit makes the file longer
	}
	path := b.write("real.md", text.String())
	if err := os.Symlink("real.md", filepath.Join(b.dir, "TODO.md")); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		r := fileRequest(event.SourceReport, fmt.Sprint(i+1))
		r.Token, r.Outcome = b.claim("work", r.Item.ID), &event.ItemOutcome{Status: event.ItemClosed}
		all.Go(func() {
			if ans := b.answer(r); ans.Outcome != event.OK {
				t.Errorf("%+v", ans.Error)
			}
		})
	}
	all.Wait()
	if have := b.read("TODO.md"); have != strings.ReplaceAll(text.String(), "[]", "[x]") {
		t.Error(have)
	}
	info, err := os.Lstat(filepath.Join(b.dir, "TODO.md"))
	real, err2 := os.Stat(path)
	if err != nil || err2 != nil || info.Mode()&os.ModeSymlink == 0 || real.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), real.Mode())
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, ".real*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFileErrors(t *testing.T) {
	b := newBench(t)
	for want, config := range map[string]map[string]value.Value{
		"cannot be read": {"path": "none.md"}, "path of source": {}, "is not a text": {"path": 1.0}, "not a regular file": {"path": "."},
	} {
		if ans := b.answer(event.SourceRequest{Kind: ir.SourceFile, Verb: event.SourceList, Config: config}); ans.Error == nil || !strings.Contains(ans.Error.Message, want) {
			t.Errorf("%v: %+v", config, ans.Error)
		}
	}
	b.write("TODO.md", "## Next\n\n| Task | Notes |\n|---|---|\n| a | |\n")
	r := fileRequest(event.SourceTake, b.items(fileRequest(event.SourceList, ""))[0].ID)
	r.Token = b.claim("work", r.Item.ID)
	if ans := b.answer(r); ans.Outcome != event.OK || !strings.Contains(ans.Warning, "keeps its mark") {
		t.Errorf("an item without a mark: %+v", ans)
	}
}

// Each item of a roadmap becomes one ticket, whoever lists it and however often, also when a lister dies in between.
func TestRoadmap(t *testing.T) {
	b := newBench(t)
	b.write("TODO.md", list)
	r := fileRequest(event.SourceList, "")
	r.Source, r.Config["tickets"] = "roadmap", true
	tickets := func() (open []string) {
		v, err := b.ask(context.Background(), event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueTicket}})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range v.(map[string]any)["items"].([]any) {
			open = append(open, one.(map[string]any)["title"].(string))
		}
		return open
	}
	ask, died := b.x.ask, 0
	b.x.ask = func(ctx context.Context, r event.StoreRequest) (value.Value, error) {
		v, err := ask(ctx, r)
		if r.Dispatch != nil && r.Dispatch.Operation == event.DispatchAdd && died < 3 { // the ticket is there, and nobody knows
			died++
			return nil, errors.New("killed")
		}
		return v, err
	}
	for died < 3 {
		b.answer(r)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { b.items(r) })
	}
	all.Wait()
	if have := strings.Join(tickets(), " "); have != "first third part" { // second is somebody's, the others are begun or closed
		t.Error(have)
	}
	report := r
	report.Verb, report.Item, report.Outcome = event.SourceReport, &event.Item{ID: "1", Title: "first"}, &event.ItemOutcome{Status: event.ItemClosed}
	report.Token = b.claim("roadmap", "1")
	b.output(report)
	if have := strings.Join(tickets(), " "); have != "third part" || !strings.Contains(b.read("TODO.md"), "[x] first") {
		t.Error(have)
	}
	b.write("TODO.md", "# Work\n\nMoved.\n\n- [ ] part #4\n- [ ] third #3\n- [ ] new #9\n")
	b.items(r)
	if have := strings.Join(tickets(), " "); have != "third part new" {
		t.Errorf("after the list was sorted anew: %s", have)
	}
}

// An item of a roadmap that somebody unticks is open again, and so is its ticket. One without a mark stays done, and so does one whose ticket
// was cancelled.
func TestUntickedItemIsOpenAgain(t *testing.T) {
	b := newBench(t)
	b.write("TODO.md", "- [ ] first #1\n- [ ] second #2\n\n## Next\n\n| Task | Notes |\n|---|---|\n| third | |\n")
	r := fileRequest(event.SourceList, "")
	r.Source, r.Config["tickets"] = "roadmap", true
	open := func() (titles []string) {
		for _, it := range b.items(r) {
			if !it.Closed {
				titles = append(titles, it.Title)
			}
		}
		return titles
	}
	dispatch := func(o event.DispatchOperation, id string) map[string]any {
		v, err := b.ask(context.Background(), event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: o, Queue: event.QueueTicket, ID: id, All: true}})
		if err != nil {
			t.Fatal(err)
		}
		return v.(map[string]any)
	}
	if have := open(); !slices.Equal(have, []string{"first", "second", "third"}) {
		t.Fatalf("open: %q", have)
	}
	for _, it := range b.items(r) {
		report := r
		report.Verb, report.Item, report.Outcome = event.SourceReport, &event.Item{ID: it.ID, Title: it.Title}, &event.ItemOutcome{Status: event.ItemClosed}
		report.Token = b.claim("roadmap", it.ID)
		b.output(report)
	}
	if have := open(); have != nil {
		t.Fatalf("all are done, and open are %q", have)
	}
	b.write("TODO.md", strings.ReplaceAll(b.read("TODO.md"), "[x]", "[ ]"))
	for range 2 {
		if have := open(); !slices.Equal(have, []string{"first", "second"}) {
			t.Errorf("after they were unticked, open are %q", have)
		}
	}
	var states []string
	for _, one := range dispatch(event.DispatchList, "")["items"].([]any) {
		states = append(states, one.(map[string]any)["title"].(string)+" "+one.(map[string]any)["state"].(string))
	}
	slices.Sort(states)
	if !slices.Equal(states, []string{"first open", "second open", "third closed"}) {
		t.Errorf("the tickets are %q", states)
	}
	for _, one := range dispatch(event.DispatchList, "")["items"].([]any) {
		if one := one.(map[string]any); one["title"] == "first" {
			dispatch(event.DispatchCancel, one["id"].(string))
		}
	}
	if have := open(); !slices.Equal(have, []string{"second"}) {
		t.Errorf("after a ticket was cancelled, open are %q", have)
	}
}

func TestListIsBounded(t *testing.T) {
	var items []event.Item
	for i := range 200 {
		items = append(items, event.Item{ID: fmt.Sprint(i), Title: "t", Body: strings.Repeat("b", 20<<10)})
	}
	o := listed(items, "s")
	text, _ := json.Marshal(o)
	if n := len(o["items"].([]any)); float64(n)+o["left"].(float64) != 200 || len(text) > limits.MaxOutput || n < 50 {
		t.Errorf("%d items, %v left, %d bytes", n, o["left"], len(text))
	}
}

// Each item of a roadmap becomes one item of the backlog, as soon as what it needs is done, whoever lists it, however often, and whoever dies in
// between. Somebody who only looks writes nothing.
func TestRoadmapFeedsABacklog(t *testing.T) {
	b := newBench(t)
	b.write("PLAN.md", "- [ ] whole #w\n  - [ ] left\n  - [ ] right\n- [ ] dropped\n- [-] never\n")
	b.write("TODO.md", "# Work\n\n- [ ] left\n")
	r := event.SourceRequest{Kind: ir.SourceFile, Source: "roadmap", Verb: event.SourceList, Dry: true,
		Config: map[string]value.Value{"path": "PLAN.md", "tickets": true, "backlog": "backlog", "backlog.from": "file", "backlog.path": "TODO.md"}}
	before := b.output(r)
	if have := b.read("TODO.md"); strings.Count(have, "[ ]") != 1 || before["tickets"] != "none" {
		t.Errorf("a look has made %q, %v", have, before)
	}
	r.Dry = false
	ask, died := b.x.ask, 0
	b.x.ask = func(ctx context.Context, r event.StoreRequest) (value.Value, error) {
		if r.Dispatch != nil && r.Dispatch.Operation == event.DispatchAdd && died < 3 { // the item is there, and no ticket
			died++
			return nil, errors.New("killed")
		}
		return ask(ctx, r)
	}
	for died < 3 {
		b.answer(r)
	}
	b.x.ask = ask
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { b.output(r) })
	}
	all.Wait()
	titles := func() (out []string) {
		for _, line := range strings.Split(b.read("TODO.md"), "\n") {
			if title, _, is := strings.Cut(line, " (id: rm-"); is {
				out = append(out, title)
			}
		}
		return out
	}
	have := titles()
	slices.Sort(have) // of four who list at once, each adds what it finds missing
	if !slices.Equal(have, []string{"- [ ] dropped", "- [ ] left", "- [ ] right"}) {
		t.Fatalf("the backlog has got %q", have)
	}
	text := strings.NewReplacer("- [ ] left (id", "- [x] left (id", "- [ ] right", "- [x] right", "- [ ] dropped", "- [-] dropped").Replace(b.read("TODO.md"))
	b.write("TODO.md", text)
	after := b.output(r)
	if have := b.read("PLAN.md"); have != "- [ ] whole #w\n  - [x] left\n  - [x] right\n- [ ] dropped\n- [-] never\n" {
		t.Errorf("the roadmap is %q", have)
	}
	if have := titles(); len(have) != 4 || have[3] != "- [ ] whole #w" || event.ListMark(after) == event.ListMark(before) {
		t.Errorf("the backlog has %q, marks %s and %s", have, event.ListMark(before), event.ListMark(after))
	}
	b.write("PLAN.md", strings.Replace(b.read("PLAN.md"), "[x] left", "[ ] left", 1))
	b.output(r)
	if have := titles(); len(have) != 5 || have[4] != "- [ ] left" {
		t.Errorf("after an item was unticked, the backlog has %q", have)
	}
}
