package replay_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/replay"
	"github.com/flowrun/flowrun/runner/view"
)

// past is a run that was, as its journal and its program tell.
type past struct {
	program  *ir.Program
	workflow string
	events   []event.Event
}

func (p *past) machine(t *testing.T) *machine.Machine {
	t.Helper()
	g, err := plan.Build(p.program, p.workflow)
	if err != nil {
		t.Fatal(err)
	}
	return machine.New(g, expr.NewEvaluator(ir.NewestRules(), p.program.Files), ir.NewestRules())
}

// learn repeats the run with its own machine. heard are the events without the answers that changed nothing: they came late or twice.
func (p *past) learn(t *testing.T) (w *replay.World, v *view.Run, heard []event.Event) {
	t.Helper()
	w, v = replay.NewWorld(), view.New(p.program.Workflow(p.workflow))
	m, answered := p.machine(t), map[uint64]bool{}
	for _, ev := range p.events {
		if err := m.Step(ev); err != nil {
			t.Fatal(err)
		}
		var r event.Reaction
		for m.Advance(1<<20, &r) {
		}
		sent := false // the first answer to a message changes nothing that is seen
		if f := ev.AttemptFinished; f != nil {
			sent = path.Base(f.Node) == "notify" && !answered[f.Ticket]
			answered[f.Ticket] = true
		}
		if sent || ev.External != nil || ev.DriverChanged != nil || len(r.Commands)+len(r.Transitions) > 0 {
			heard = append(heard, ev)
		}
		v.Apply([]event.Event{ev}, &r)
		w.Learn(ev, r.Commands)
	}
	return w, v, heard
}

// readJournal reads a journal of the corpus: a line that names the format, the header, the definition, and events between lines
// that begin a batch.
func readJournal(t *testing.T, name string) *past {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	p := &past{}
	var header struct{ Workflow string }
	if err := json.Unmarshal(lines[1], &header); err != nil {
		t.Fatal(err)
	}
	p.workflow = header.Workflow
	if p.program, err = ir.Load(lines[2]); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[3:] {
		if bytes.HasPrefix(line, []byte("batch ")) {
			continue
		}
		var ev event.Event
		if err := json.Unmarshal(line, &ev); err != nil {
			t.Fatal(err)
		}
		p.events = append(p.events, ev)
	}
	return p
}

// With the machine of the same program every journal of the corpus gives the same events again, to the nanosecond.
func TestSameProgramSameEvents(t *testing.T) {
	files, err := filepath.Glob("../../testdata/journals/*/*.journal")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d journals, %v", len(files), err)
	}
	total := 0
	for _, name := range files {
		p := readJournal(t, name)
		w, was, heard := p.learn(t)
		out, err := w.Run(p.machine(t), *p.events[0].RunStarted, view.New(p.program.Workflow(p.workflow)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		total += len(out.Events)
		if len(out.New)+len(out.Changed) > 0 || len(replay.Compare(was, out)) > 0 {
			t.Errorf("%s: new %v, changed %v, different %v", name, out.New, out.Changed, replay.Compare(was, out))
		}
		have, want := essence(t, out.Events), essence(t, heard)
		for i := range max(len(have), len(want)) {
			if i >= len(have) || i >= len(want) || have[i] != want[i] {
				t.Errorf("%s: event %d is\n%s\nand was\n%s", name, i+1, at(have, i), at(want, i))
				break
			}
		}
	}
	t.Logf("%d journals with %d events", len(files), total)
}

// essence is events as text, without their numbers and the rows of the inbox that they came from.
func essence(t *testing.T, events []event.Event) (list []string) {
	t.Helper()
	for _, ev := range events {
		ev.Seq = 0
		b, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(b))
	}
	return list
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

func load(t *testing.T, text string) *ir.Program {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"w.hcl": {Data: []byte(text)}}, "w.hcl", dsl.Options{})
	for _, d := range list {
		if d.Severity == diag.Error {
			t.Fatal(d)
		}
	}
	return p.IR
}

// ran is a run of a program in which each attempt takes a second and succeeds, but those of the nodes that fail.
func ran(t *testing.T, text string, fail ...string) *past {
	t.Helper()
	p := &past{program: load(t, text), workflow: "w"}
	m := p.machine(t)
	queue := []event.Event{{RunStarted: &event.RunStarted{Run: "aaaaaaaaaaaa", Workflow: "w"}}}
	for now := event.Time(1e18); len(queue) > 0; now += 1e9 {
		ev := queue[0]
		queue = queue[1:]
		ev.Seq, ev.At = uint64(len(p.events)+1), now
		p.events = append(p.events, ev)
		if err := m.Step(ev); err != nil {
			t.Fatal(err)
		}
		var r event.Reaction
		for m.Advance(100, &r) {
		}
		for _, c := range r.Commands {
			if a := c.Start; a != nil {
				f := &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Outcome: event.OK, Stdout: "said by " + a.Node}
				if strings.Contains(strings.Join(fail, " "), a.Node) {
					f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1}
				}
				queue = append(queue, event.Event{AttemptFinished: f})
			}
		}
	}
	return p
}

// A run that was left for a night, with timeouts that were due then, is repeated as it was, to the nanosecond; and so is a deadline of
// another program that passes meanwhile: its node hears of it in the morning.
func TestANight(t *testing.T) {
	const text = `workflow "w" {
  timeout = "10s"
  sequence "g" {
    timeout = "9s"
    step "a" { run = ["a"] }
    step "b" { run = ["b"] }
  }
}`
	p := ran(t, text)
	p.events = p.events[:2] // b is under way
	evening, b := p.events[1].At, event.AttemptFinished{Ticket: 2, Node: "g/b", Attempt: 1, Outcome: event.OK}
	morning := evening.Add(10 * time.Hour)
	p.events = append(p.events, event.Event{Seq: 3, At: morning, DriverChanged: &event.DriverChanged{Since: evening}},
		event.Event{Seq: 4, At: morning.Add(time.Second), AttemptFinished: &b})
	w, was, heard := p.learn(t)
	out, err := w.Run(p.machine(t), *p.events[0].RunStarted, view.New(p.program.Workflow("w")))
	if err != nil {
		t.Fatal(err)
	}
	if have, want := essence(t, out.Events), essence(t, heard); !slices.Equal(have, want) || !out.Ended || len(replay.Compare(was, out)) > 0 {
		t.Errorf("the events are\n%s\nand were\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
	q := &past{workflow: "w", program: load(t, strings.Replace(text, `step "b" { run = ["b"] }`, `step "b" {
      run = ["b"]
      deadline { after = "5s" }
    }`, 1))}
	out, err = w.Run(q.machine(t), *p.events[0].RunStarted, view.New(q.program.Workflow("w")))
	if err != nil {
		t.Fatal(err)
	}
	if fired := out.Events[3]; fired.TimerFired == nil || fired.At != morning {
		t.Errorf("after the new driver comes %s at %v, want the deadline at %v", fired.Kind(), fired.At, morning)
	}
}

// Against another program, what the journal knows is answered as then; what it does not know is new, and what waits for it is open.
func TestAnotherProgram(t *testing.T) {
	p := ran(t, `workflow "w" {
  step "a" { run = ["a"] }
  step "b" {
    run  = ["b"]
    when = "step.a.output == 'said by a'"
  }
  step "c" { run = ["c", step.b.status] }
  step "gone" { run = ["gone"] }
  step "d" { run = ["d"] }
}`, "d")
	w, was, _ := p.learn(t)
	q := &past{workflow: "w", program: load(t, `workflow "w" {
  step "a" { run = ["a", "more"] }
  step "b" {
    run  = ["b"]
    when = "step.a.output == 'other'"
  }
  step "c" { run = ["c", step.b.status] }
  step "d" {
    run = ["d"]
    retry {
      max_attempts = 2
      when         = "true"
      jitter       = "none"
    }
  }
  step "after_d" { run = ["after", "--", step.d.output] }
  step "new" { run = ["new"] }
}`)}
	out, err := w.Run(q.machine(t), *p.events[0].RunStarted, view.New(q.program.Workflow("w")))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(map[string]any{"ended": out.Ended, "new": out.New, "changed": out.Changed, "differences": replay.Compare(was, out)}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "another.json")
	if os.Getenv("REWRITE") != "" {
		if err := os.WriteFile(golden, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != string(text)+"\n" {
		t.Errorf("%v\n%s", err, text)
	}
}
