package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory/entry"
	memories "github.com/flowrun/flowrun/memory/store"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/standalone"
)

var daemonKills = flag.Int("serve.kills", 2, "how many daemons TestDaemonUnderKills kills for each of the things that it does")

const killedDaemonProgram = `
workflow "note" {
  input "id" { type = string }
  step "count" {
    kv { incr = "notes/${run.id}" }
  }
  step "say" { value = step.count.output }
}

on "order.placed" {
  workflow = workflow.note
  with     = { id = "event ${event.id}" }
}

routine "tick" {
  workflow = workflow.note
  with     = { id = "moment" }
  every    = "1s"
  missed   = "all"
}

on "file.inbox" {
  workflow = workflow.note
  paths    = ["in/*"]
  debounce = "50ms"
  with     = { id = "file ${event.path} ${event.change} ${event.size}" }
}

agent "sam" {
  type    = "exec"
  command = ["true"]
}

loop "crew" {
  agents = [agent.sam]
  source "dispatch" {}
  handle {
    workflow = workflow.note
    with     = { id = "item ${item.id}" }
  }
}
`

// TestDaemonUnderKills kills daemons, with SIGKILL, at the points between which something becomes true ([engine.Point]): around the delivery of
// an event, around a moment of a routine, around the claim of an item of a loop, and around the change of a file. Each event, each moment and each
// change starts one run, each item is done by one run, and each of the runs counts once.
//
// A long one: go test ./cmd/flowrun -run TestDaemonUnderKills -serve.kills=50 -v
func TestDaemonUnderKills(t *testing.T) {
	binary, dir := mortalBinary(t), t.TempDir()
	s, err := standalone.Open(filepath.Join(dir, ".flowrun"), standalone.Options{AnyRoom: true, DeathLimit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	path := filepath.Join(dir, "flow.hcl")
	if err := os.WriteFile(path, []byte(killedDaemonProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	p, list := dsl.Load(os.DirFS(dir), "flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	definition := p.IR.Canonical()
	begin := func(workflow string) engine.Start {
		return engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: workflow},
			Definition: definition, First: event.RunStarted{Workflow: workflow, Dir: dir}}
	}
	start := begin("note")
	if _, err := s.Register(t.Context(), path, &start); err != nil {
		t.Fatal(err)
	}
	ask := func(r event.StoreRequest) any {
		t.Helper()
		v, err := s.Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	note := filepath.Join(dir, "note")
	daemon := func(at int) (killed bool) {
		t.Helper()
		c := exec.Command(binary, "serve", "--once", "--listen", "off", "--death-limit", "1000", "--store", filepath.Join(dir, ".flowrun"))
		c.Env = append(os.Environ(), fmt.Sprintf("%s=KILL %d", mortalAt, at), mortalNote+"="+note)
		out, err := c.CombinedOutput()
		if err != nil && !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the daemon ends with %v: %s", err, out)
		}
		return err != nil
	}
	r := rand.New(rand.NewPCG(20, 11))
	kills, events, items, changes := map[string]int{}, 0, 0, 0
	for n := range 4 * *daemonKills {
		what := "moment" // one is due a second later at the latest
		switch n % 4 {
		case 3:
			what = "file"
			if err := os.MkdirAll(filepath.Join(dir, "in"), 0o700); err != nil {
				t.Fatal(err)
			}
			// every other time the file is there, and grows
			if err := os.WriteFile(filepath.Join(dir, "in", fmt.Sprint(changes/2)), make([]byte, 1+changes), 0o600); err != nil {
				t.Fatal(err)
			}
			changes++
		case 0:
			what = "event"
			ask(event.StoreRequest{Emit: &event.EmitRequest{Name: "order.placed", Data: map[string]any{"id": fmt.Sprint(events)}}})
			events++
		case 1:
			what = "item"
			ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{Title: "do it"}}})
			items++
		default:
			for next, _ := s.NextRoutine(t.Context(), ""); time.Until(next) > 0; next, _ = s.NextRoutine(t.Context(), "") {
				time.Sleep(10 * time.Millisecond)
			}
		}
		if daemon(1 + r.IntN(60)) {
			kills[what]++
		}
	}
	for range items + 1 { // each time the loop gives its agent one item
		if err := serve.New(serve.Options{Store: s}).Once(context.Background()); err != nil {
			t.Fatal(err)
		}
	}

	var have []string
	all, err := s.List(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].Status != event.Succeeded {
			t.Errorf("run %s of %s is %s", all[i].Run, all[i].Workflow, all[i].Status)
		}
		if all[i].Workflow != "note" {
			continue
		}
		first, err := s.Started(t.Context(), all[i].Run)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := first.Inputs["id"].(string)
		if first.Cause != nil && first.Cause.Kind == event.CauseRoutine {
			id += " " + first.Cause.ScheduledAt.String()
		}
		have = append(have, id)
		if n := ask(event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "default", Key: "notes/" + all[i].Run}}); n != 1.0 {
			t.Errorf("the run for the %s has counted to %v", id, n)
		}
	}
	slices.Sort(have)
	if once := slices.Compact(slices.Clone(have)); len(once) != len(have) {
		t.Errorf("something was done twice: %q", have)
	}
	count := func(what string) (n int) {
		for _, id := range have {
			if strings.HasPrefix(id, what+" ") {
				n++
			}
		}
		return n
	}
	routines, err := s.Routines(t.Context())
	if err != nil || len(routines) != 1 || routines[0].Missed != 0 {
		t.Fatalf("the routines are %+v, %v", routines, err)
	}
	if count("event") != events || count("item") != items || count("moment") != routines[0].Started || routines[0].Started == 0 || count("file") != changes {
		t.Errorf("%d events, %d items, %d moments and %d changes have %d, %d, %d and %d runs", events, items, routines[0].Started, changes, count("event"), count("item"), count("moment"), count("file"))
	}
	t.Logf("%v kills; %d events, %d items, %d moments, %d changes of files, each once", kills, events, items, routines[0].Started, changes)
	if len(kills) == 0 {
		t.Error("no daemon was killed: this proves nothing")
	}
}

// TestBackupBesideDaemon makes backups while a daemon drives runs, somebody publishes events, and somebody writes to the memory. Each backup is
// a store as it was at one moment: the daemon of a backup finishes its runs, and no event has a second one.
func TestBackupBesideDaemon(t *testing.T) {
	binary, dir := mortalBinary(t), t.TempDir()
	store := filepath.Join(dir, ".flowrun")
	if err := os.WriteFile(filepath.Join(dir, "flow.hcl"), []byte(killedDaemonProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	flowrun := func(args ...string) *exec.Cmd {
		c := exec.Command(binary, args...)
		c.Dir, c.Env = dir, append(os.Environ(), "FLOWRUN_STORE="+store)
		return c
	}
	daemon := flowrun("serve", "flow.hcl", "--listen", "off")
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		daemon.Process.Kill()
		daemon.Wait()
	}()
	var s *standalone.Store
	for s == nil {
		time.Sleep(10 * time.Millisecond)
		s, _ = standalone.Open(store, standalone.Options{AnyRoom: true})
	}
	defer s.Close()
	for registered := false; !registered; time.Sleep(10 * time.Millisecond) {
		list, err := s.Registered(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		registered = len(list) == 1
	}
	memory, err := memories.Open(store, memories.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	written := make(chan struct{}, 1000)
	writers.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := s.Ask(ctx, event.StoreRequest{Emit: &event.EmitRequest{Name: "order.placed", Data: map[string]any{"id": fmt.Sprint(i)}}}); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			record := entry.Record{At: time.Now(), Op: entry.Put, Entry: &entry.Entry{ID: fmt.Sprint("e", i), Text: fmt.Sprint("text ", i), CreatedAt: time.Now()}}
			if _, err := memory.Append(ctx, record); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			select {
			case written <- struct{}{}:
			default:
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	for n := range 2 {
		for range 10 {
			<-written
		}
		to := filepath.Join(dir, fmt.Sprint("copy", n))
		if out, err := flowrun("backup", "--to", to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		copied, err := standalone.Open(to, standalone.Options{AnyRoom: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := serve.New(serve.Options{Store: copied}).Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		kept, err := copied.Ask(t.Context(), event.StoreRequest{Events: true})
		if err != nil {
			t.Fatal(err)
		}
		all, err := copied.List(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		for i := range all {
			first, err := copied.Started(t.Context(), all[i].Run)
			if err != nil || all[i].Status != event.Succeeded {
				t.Errorf("run %s is %s, %v", all[i].Run, all[i].Status, err)
			} else if first.Cause != nil && first.Cause.Kind == event.CauseEvent {
				runs++
			}
		}
		if events := len(kept.([]any)); runs != events || events < 10*(n+1) {
			t.Errorf("backup %d has %d events and %d runs of them", n, events, runs)
		}
		if err := copied.Close(); err != nil {
			t.Fatal(err)
		}
		remembered, err := memories.Open(to, memories.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		entries := 0
		remembered.View(func(x *entry.State) { entries = x.Len() })
		if err := remembered.Close(); err != nil || entries < 10*(n+1)-1 {
			t.Errorf("backup %d has %d entries of the memory, %v", n, entries, err)
		}
	}
}
