package temporal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	rules "github.com/flowrun/flowrun/runner/engine/temporal/share"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/notify"
	"github.com/flowrun/flowrun/runner/shared"
)

// sharing is a store of a test with two workers, each with its own connection.
type sharing struct {
	*testing.T
	*temporal.Host
	begun sync.Map // names of steps and when they began last
}

func share(t *testing.T, o temporal.Options) *sharing {
	t.Helper()
	needServer(t)
	s := &sharing{T: t}
	programs := new(runner.Programs)
	o.Machines, o.Group, o.Events, o.Store = programs, programs.Group, programs.Events, engine.NewID()
	o.Poll = 50 * time.Millisecond
	s.Host = dial(t, o)
	o.Queue = s.Queue()
	for range 2 {
		h := dial(t, o)
		x := executor.Registry{}
		x.Register(executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
			f := executor.Answer(a)
			f.Outcome = event.OK
			if a.Agent != nil {
				f.Output = map[string]any{"by": a.Agent.Name}
			}
			if strings.HasPrefix(a.Name, "fail") {
				executor.Fail(&f, &event.Error{Kind: event.Transient, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1})
			}
			if strings.HasPrefix(a.Name, "slow") {
				select {
				case <-time.After(300 * time.Millisecond):
				case <-ctx.Done():
				}
			}
			if a.Name == "hang" {
				<-ctx.Done()
			}
			return f
		}), event.RunAttempt, event.ExecAgentAttempt, event.ShellAgentAttempt)
		x.Register(notify.New(x, h.Ask, notify.Options{}), event.NotifyAttempt)
		serve(t, h, x, 20)
	}
	return s
}

// begin starts the first workflow of a program, or the one with a name.
func (s *sharing) begin(text string, workflow ...string) string {
	s.Helper()
	b := begin(parse(s.T, text))
	if workflow != nil {
		b.Header.Workflow, b.First.Workflow = workflow[0], workflow[0]
	}
	run, err := s.Start(s.Context(), b)
	if err != nil {
		s.Fatal(err)
	}
	return run
}

// end waits for the end of a run.
func (s *sharing) end(run string, want event.Status) event.End {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Minute)
	defer cancel()
	end, err := s.Drive(ctx, run, nil)
	if err != nil || end.Status != want {
		s.Fatalf("run %s ended %s (%v, %v), want %s", run, end.Status, end.Error, err, want)
	}
	return end
}

func (s *sharing) ask(r event.StoreRequest) value.Value {
	s.Helper()
	v, err := s.Ask(s.Context(), r)
	if err != nil {
		s.Fatal(err)
	}
	return v
}

// asks waits until something waits for people, and returns its node.
func (s *sharing) asks(run string) string {
	s.Helper()
	for range 400 {
		for _, a := range s.ask(event.StoreRequest{Asks: true}).([]any) {
			if o := a.(map[string]any); o["run"] == run {
				return o["node"].(string)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.Fatal("nobody is asked")
	return ""
}

func (s *sharing) decide(run, node string, d event.Decision) shared.Verdict {
	s.Helper()
	v, err := shared.ReadVerdict(s.ask(event.StoreRequest{Decide: &event.DecideRequest{Run: run, Node: node, Decision: d}}))
	if err != nil {
		s.Fatal(err)
	}
	return v
}

// TestSharedValues has runs count together, and the store continue as new meanwhile.
func TestSharedValues(t *testing.T) {
	s := share(t, temporal.Options{SoftShared: 60})
	const program = `workflow "w" {
  step "count" {
    for_each = range(10)
    kv { incr = "n" }
  }
  step "read" {
    kv { get = "n" }
  }
  output "n" { value = step.read.output }
}`
	var runs []string
	for range 6 {
		runs = append(runs, s.begin(program))
	}
	for _, run := range runs {
		s.end(run, event.Succeeded)
	}
	for range 30 { // one update each, so that the store continues several times
		s.ask(event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVIncr, Namespace: "default", Key: "n", By: 1}})
	}
	if v := s.ask(event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "default", Key: "n"}}); !value.Equal(v, 90.0) {
		t.Errorf("the runs have counted %v, want 90", v)
	}
	if n := len(histories(t, wire.ShareID(s.StoreName()))); n < 3 {
		t.Errorf("the store has had %d executions", n)
	}
}

// TestSharedEvents has a run wait for an event that another one publishes.
func TestSharedEvents(t *testing.T) {
	s := share(t, temporal.Options{})
	waits := s.begin(`workflow "w" {
  step "paid" {
    wait {
      event = "order.paid"
      match = "event.id == 7"
    }
  }
  output "got" { value = step.paid.output }
}`)
	time.Sleep(time.Second)
	s.end(s.begin(`workflow "e" {
  sequence "all" {
    step "other" {
      emit {
        event = "order.paid"
        data  = { id = 6 }
      }
    }
    step "this" {
      emit {
        event = "order.paid"
        data  = { id = 7 }
      }
    }
  }
}`), event.Succeeded)
	if end := s.end(waits, event.Succeeded); !value.Equal(end.Outputs["got"], map[string]any{"id": 7.0}) {
		t.Errorf("the run has got %v", end.Outputs)
	}
}

// TestSharedPoint has two runs meet.
func TestSharedPoint(t *testing.T) {
	s := share(t, temporal.Options{})
	party := func(name string) string {
		return fmt.Sprintf(`workflow "w" {
  step "meet" {
    sync {
      point = "release"
      as    = %q
      needs = ["api", "ui"]
    }
  }
  output "last" { value = step.meet.output.last }
}`, name)
	}
	a, b := s.begin(party("api")), s.begin(party("ui"))
	x, y := s.end(a, event.Succeeded), s.end(b, event.Succeeded)
	if x.Outputs["last"] == y.Outputs["last"] {
		t.Errorf("the last are %v and %v", x.Outputs, y.Outputs)
	}
}

// TestSharedQuota bounds attempts over runs, and holds units for a group.
func TestSharedQuota(t *testing.T) {
	s := share(t, temporal.Options{})
	const program = `quota "one" { capacity = 1 }
workflow "w" {
  sequence "holds" {
    quota = quota.one
    step "slow_a" { run = ["true"] }
    step "slow_b" { run = ["true"] }
  }
}`
	var runs []string
	for range 3 {
		runs = append(runs, s.begin(program))
	}
	type span struct{ from, to event.Time }
	var spans []span
	for _, run := range runs {
		s.end(run, event.Succeeded)
		var x span
		for _, f := range s.finished(run) {
			if strings.HasPrefix(f.Node, "holds/slow") {
				if x.from == 0 {
					x.from = f.StartedAt
				}
				x.to = f.StartedAt.Add(300 * time.Millisecond)
			}
		}
		spans = append(spans, x)
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			t.Errorf("a run begins at %s, and one before works until %s", spans[i].from, spans[i-1].to)
		}
	}
	limits, err := s.Limits(t.Context())
	if err != nil || len(limits) != 1 || limits[0].Used != 0 || len(limits[0].Waiting) != 0 {
		t.Errorf("after the end the limits are %+v (%v)", limits, err)
	}
}

// finished lists the answers of the attempts of a run, without refusals.
func (s *sharing) finished(run string) (list []*event.AttemptFinished) {
	s.Helper()
	f := &event.AttemptFinished{}
	for _, ev := range s.events(run) {
		if f = ev.AttemptFinished; f != nil && f.Outcome != event.Refused {
			list = append(list, f)
		}
	}
	return list
}

// events reads the journal of a run, which its histories have.
func (s *sharing) events(run string) (list []event.Event) {
	s.Helper()
	_, err := s.Host.Drive(s.Context(), run, func(events []event.Event, _ *event.Reaction, _ bool) {
		list = append(list, slices.Clone(events)...)
	})
	if err != nil {
		s.Fatal(err)
	}
	return list
}

// TestSharedGroup has runs of a group take turns.
func TestSharedGroup(t *testing.T) {
	s := share(t, temporal.Options{})
	program := func(busy string) string {
		return fmt.Sprintf(`workflow "w" {
  concurrency {
    group     = "deploy"
    when_busy = %q
  }
  step "slow" { run = ["true"] }
}`, busy)
	}
	a := s.begin(program("queue"))
	time.Sleep(100 * time.Millisecond)
	b, skips := s.begin(program("queue")), s.begin(program("skip"))
	s.end(skips, event.Skipped)
	s.end(a, event.Succeeded)
	s.end(b, event.Succeeded)
	x, y := s.events(a), s.events(b)
	if y[0].At < x[len(x)-1].At {
		t.Errorf("the second run begins at %s, and the first ends at %s", y[0].At, x[len(x)-1].At)
	}
}

// TestSharedPeople has two persons answer at once: one counts, and the other hears of it.
func TestSharedPeople(t *testing.T) {
	s := share(t, temporal.Options{})
	run := s.begin(`agent "ann" { type = "human" }
workflow "w" {
  sequence "all" {
    step "ok" {
      approve { prompt = "Release?" }
    }
    step "label" {
      agent  = agent.ann
      task   = "Name it"
      output = string
    }
  }
  output "by" { value = step.ok.output.by }
  output "name" { value = step.label.output }
}`)
	node := s.asks(run)
	verdicts := make([]shared.Verdict, 6)
	var all sync.WaitGroup
	for i := range verdicts {
		all.Go(func() {
			verdicts[i] = s.decide(run, node, event.Decision{Word: event.WordApprove, By: fmt.Sprint("p", i)})
		})
	}
	all.Wait()
	winner := ""
	for i, v := range verdicts {
		if v.Outcome == shared.Recorded && winner == "" {
			winner = fmt.Sprint("p", i)
		} else if v.Outcome != shared.Late && v.Outcome != shared.Unasked {
			t.Errorf("the verdict about p%d is %+v", i, v)
		}
	}
	for i, v := range verdicts {
		if v.Outcome == shared.Late && (!slices.Equal(v.By, []string{winner}) || v.At == 0 || v.Word != event.WordApprove) {
			t.Errorf("p%d hears %+v, and %s has decided", i, v, winner)
		}
	}
	for s.asks(run) == node {
		time.Sleep(20 * time.Millisecond)
	}
	if v := s.decide(run, "label", event.Decision{Word: event.WordDone, By: "ann", Output: 7.0}); v.Outcome != shared.Misfit {
		t.Errorf("an output of another type: %+v", v)
	}
	if v := s.decide(run, "label", event.Decision{Word: event.WordDone, By: "ann", Output: "blue"}); v.Outcome != shared.Recorded {
		t.Errorf("the answer of the person: %+v", v)
	}
	end := s.end(run, event.Succeeded)
	if !value.Equal(end.Outputs["by"], []any{winner}) || end.Outputs["name"] != "blue" {
		t.Errorf("the outputs are %v, and %s has decided", end.Outputs, winner)
	}
	if list := s.ask(event.StoreRequest{Asks: true}).([]any); len(list) != 0 {
		t.Errorf("after the end, %v is asked", list)
	}
}

// TestSharedMessages sends messages from a worker's activity, and a failed run becomes a dead letter.
func TestSharedMessages(t *testing.T) {
	s := share(t, temporal.Options{})
	file := filepath.Join(t.TempDir(), "messages")
	program := fmt.Sprintf(`channel "log" {
  type = "file"
  path = %q
}
workflow "w" {
  sequence "all" {
    step "tell" {
      notify {
        to   = [channel.log]
        text = "the same"
      }
    }
    step "fail" { run = ["false"] }
  }
}`, file)
	for range 2 {
		s.end(s.begin(program), event.FailedS)
	}
	text, err := os.ReadFile(file)
	if n := strings.Count(string(text), "the same"); err != nil || n != 1 {
		t.Errorf("two runs have sent %d equal messages (%v)", n, err)
	}
	v := s.ask(event.StoreRequest{Dead: &event.DeadRequest{}})
	if !strings.Contains(string(value.Append(nil, v)), `"workflow":"w"`) {
		t.Errorf("the dead letters are %s", value.Append(nil, v))
	}
}

// TestSharedTerminated ends a run on the server that holds a quota. The next one goes on.
func TestSharedTerminated(t *testing.T) {
	s := share(t, temporal.Options{Sweep: time.Second})
	const program = `quota "one" { capacity = 1 }
workflow "w" {
  sequence "holds" {
    quota = quota.one
    step "pause" {
      wait { duration = "1h" }
    }
  }
}`
	holds := s.begin(program)
	for range 200 {
		if l, err := s.Limits(t.Context()); err == nil && len(l) == 1 && l[0].Used == 1 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	next := s.begin(strings.Replace(program, `"1h"`, `"10ms"`, 1))
	time.Sleep(time.Second)
	terminate(t, holds)
	s.end(next, event.Succeeded)
}

// TestSharedBreaker opens the breaker of an agent over runs, and a person closes it.
func TestSharedBreaker(t *testing.T) {
	s := share(t, temporal.Options{})
	program := func(step string) string {
		return fmt.Sprintf(`agent "remote" {
  type    = "exec"
  command = ["true"]
  circuit_breaker {
    failures = 2
    reset    = "1h"
  }
}
workflow "w" {
  step %q {
    agent = agent.remote
    task  = "x"
  }
}`, step)
	}
	for range 2 {
		s.end(s.begin(program("fail")), event.FailedS)
	}
	waits := s.begin(program("good"))
	for range 200 {
		if l, err := s.Limits(t.Context()); err == nil && len(l) == 1 && len(l[0].Waiting) == 1 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if changed, err := s.ChangeLimit(t.Context(), event.LimitChange{Reset: "remote"}); err != nil || !changed {
		t.Fatal(changed, err)
	}
	s.end(waits, event.Succeeded)
}

// TestSharedRate prints how fast the store of a namespace is: runs that count together, each with a for_each of operations.
func TestSharedRate(t *testing.T) {
	const runs, each = 8, 50
	s := share(t, temporal.Options{})
	program := fmt.Sprintf(`workflow "w" {
  step "count" {
    for_each = range(%d)
    kv { incr = "n" }
  }
}`, each)
	began := time.Now()
	var ids []string
	for range runs {
		ids = append(ids, s.begin(program))
	}
	for _, run := range ids {
		s.end(run, event.Succeeded)
	}
	took := time.Since(began)
	if v := s.ask(event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "default", Key: "n"}}); !value.Equal(v, float64(runs*each)) {
		t.Errorf("the runs have counted %v, want %d", v, runs*each)
	}
	updates, ofRuns := 0, 0
	for _, h := range histories(t, wire.ShareID(s.StoreName())) {
		for _, e := range h.Events {
			if e.GetWorkflowExecutionUpdateAcceptedEventAttributes() != nil {
				updates++
			}
		}
	}
	for _, run := range ids {
		for _, h := range histories(t, run) {
			ofRuns += len(h.Events)
		}
	}
	t.Logf("%d operations of %d runs in %s: %.0f/s; %d updates of the store, %.2f history events of a run for each", runs*each, runs, took.Round(time.Millisecond),
		float64(runs*each)/took.Seconds(), updates, float64(ofRuns)/float64(runs*each))
}

// TestSharedAnew: an operator ends the workflow that keeps what runs share. The next one says that it began anew, and gives no token of a claim again.
func TestSharedAnew(t *testing.T) {
	needServer(t)
	store := engine.NewID()
	h := dial(t, temporal.Options{Store: store})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.ServeShared(ctx) }()
	defer func() { cancel(); <-done }()
	take := func() uint64 {
		v, err := h.Ask(ctx, event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimTake, Item: engine.NewID(), Loop: "l", Agent: "a", Lease: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := event.ClaimOf(v)
		if err != nil {
			t.Fatal(err)
		}
		return c.Token
	}
	if token := take(); token != 1 {
		t.Errorf("the first token is %d", token)
	}
	if a, trouble, err := h.About(ctx); err != nil || trouble != "" || a == nil || a.Anew != 0 || a.Rules != rules.Rules {
		t.Errorf("about it: %+v, %q, %v", a, trouble, err)
	}
	terminate(t, wire.ShareID(store))
	before := uint64(time.Now().Add(-time.Minute).UnixMilli())
	if token := take(); token < before {
		t.Errorf("after the end the first token is %d", token)
	}
	if a, _, err := h.About(ctx); err != nil || a == nil || a.Anew == 0 {
		t.Errorf("about it, after its end: %+v, %v", a, err)
	}
}
