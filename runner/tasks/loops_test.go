package tasks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/tasks"
)

// answer is what a step says at an attempt: an output, or an error.
type answer func(path string, attempt int) (value.Value, *event.Error)

// run carries out the first workflow of a program, or one that is called, and gives what was told, a line each.
func run(t interface{ Fatal(...any) }, p *tasks.Program, first event.RunStarted, says answer) (told []tasks.Task, end event.Status) {
	g, err := plan.Build(p.Program, first.Workflow)
	if err != nil {
		t.Fatal(err)
	}
	first.Run = "r"
	m, f := machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules()), tasks.NewFold(p)
	now := event.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	queue := []event.Event{{RunStarted: &first}}
	for seq := uint64(1); len(queue) > 0; seq++ {
		ev := queue[0]
		queue = queue[1:]
		now++
		ev.Seq, ev.At = seq, now
		var r event.Reaction
		if err := m.Step(ev); err != nil {
			t.Fatal(err)
		}
		for m.Advance(1000, &r) {
		}
		tasks, _ := f.Apply([]event.Event{ev}, &r)
		told = append(told, tasks...)
		for _, c := range r.Commands {
			switch {
			case c.Start != nil:
				queue = append(queue, event.Event{AttemptFinished: finish(c.Start, says)})
			case c.SetTimer != nil:
				queue = append(queue, event.Event{TimerFired: &event.TimerFired{Timer: c.SetTimer.Timer, Node: c.SetTimer.Node}})
				now = max(now, c.SetTimer.Due)
			case c.StartChild != nil:
				queue = append(queue, event.Event{ChildFinished: &event.ChildFinished{Run: c.StartChild.Run, Node: c.StartChild.Node, Status: event.Succeeded}})
			case c.End != nil:
				end = c.End.Status
			}
		}
	}
	return told, end
}

func finish(a *event.Attempt, says answer) *event.AttemptFinished {
	f := &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate, Outcome: event.OK}
	path := a.Node
	if a.Gate != "" {
		path += " " + a.Gate[strings.LastIndexByte(a.Gate, '/')+1:]
	}
	if f.Output, f.Error = says(path, a.Attempt); f.Error != nil {
		f.Outcome = event.Failed
		if f.Error.Reason == "" {
			f.Error.Reason = event.ReasonExit
		}
	} else if s, is := f.Output.(string); is && a.Agent == nil {
		f.Stdout, f.Output = s, nil
	}
	if a.Agent != nil {
		f.Learned = []event.Learned{{Type: "success", Lesson: "well done"}}
		if f.Output == nil {
			f.Output = map[string]any{}
		}
	} else if code := 0; true {
		if f.Error != nil {
			code = 1
		}
		f.ExitCode = &code
	}
	return f
}

// brief is a task as the table below has it. What is Open is not listed.
func brief(list []tasks.Task) (out []string) {
	for _, t := range list {
		if t.Ending == tasks.Open {
			continue
		}
		s := [...]string{"failed", "open", "accepted", "unproven", "refused"}[t.Ending] + " " + t.Node
		if t.GivenUp {
			s += " by " + t.Agent
		}
		if t.Problem != nil {
			s += ": " + strings.SplitN(t.Problem.Message, "\n", 2)[0]
		}
		for _, h := range t.Heard {
			s += fmt.Sprintf(" | %s: %s", h.Name, value.Text(h.Output))
			if h.Problem != nil {
				s += " " + h.Problem.Message
			}
		}
		out = append(out, s)
	}
	return out
}

// no is how a step fails.
func no(message string) (value.Value, *event.Error) {
	return nil, &event.Error{Kind: event.Transient, Message: message}
}

// says answers by path; what is not listed succeeds with an empty object.
func says(m map[string]any) answer {
	return func(path string, attempt int) (value.Value, *event.Error) {
		v, known := m[fmt.Sprintf("%s#%d", path, attempt)]
		if !known {
			v = m[path]
		}
		switch v := v.(type) {
		case error:
			return no(v.Error())
		case nil:
			return nil, nil
		}
		return v, nil
	}
}

const agents = `
memory {}
gate "shape" {
  check   = "result.output.a.n > 1"
  message = "n is too small"
}
agent "coder" {
  type    = "exec"
  command = ["coder"]
}
agent "other" {
  type    = "exec"
  command = ["other"]
}
agent "critic" {
  type    = "exec"
  command = ["critic"]
}
`

const reviewLoop = `
  sequence "loop" {
    step "write" {
      agent = agent.coder
      task  = "Write it."
      retry {
        max_attempts = 2
        jitter       = "none"
      }
    }
    step "review" {
      agent      = agent.critic
      task       = "Review it."
      depends_on = [step.write]
      output     = object({ ok = bool, why = string })
    }
    repeat {
      until = "step.review.output.ok"
      max   = 5
    }
  }
`

func fail(s string) error { return fmt.Errorf("%s", s) }

func review(ok bool, why string) map[string]any { return map[string]any{"ok": ok, "why": why} }

// Whatever shape the work has, what a gate, a reviewer or a later round did not accept is never accepted, and what was said of it is
// told of those who did it.
func TestWhatIsAccepted(t *testing.T) {
	round := func(n int) string {
		return fmt.Sprintf("round %d did not meet its condition: step.review.output.ok", n)
	}
	for _, c := range []struct {
		name, src string
		says      map[string]any
		end       event.Status
		want      []string
	}{
		{"at once", `step "a" {
			agent = agent.coder
			task = "x"
		}`, nil, event.Succeeded, []string{"accepted a"}},
		{"after a failure", `step "a" {
			agent = agent.coder
			task = "x"
			retry { max_attempts = 2 }
		}`, map[string]any{"a#1": fail("no disk")}, event.Succeeded, []string{"accepted a: no disk"}},
		{"a fallback", `step "a" {
			agent = agent.coder
			task = "x"
			fallback = [agent.other]
		}`, map[string]any{"a#1": fail("no disk")}, event.Succeeded, []string{"failed a by coder: no disk", "accepted a"}},
		{"degraded", `step "a" {
			agent = agent.coder
			task = "x"
			degrade { output = { n = 1 } }
		}`, map[string]any{"a": fail("no disk")}, event.Succeeded, []string{"failed a: no disk"}},
		{"its own gate", `step "a" {
			agent = agent.coder
			task = "x"
			gate "n" {
				check = "result.output.n > 1"
				on_fail = "retry"
			}
		}`, map[string]any{"a#1": map[string]any{"n": 1.0}, "a#2": map[string]any{"n": 2.0}}, event.Succeeded,
			[]string{`accepted a: gate "n" did not pass: its check is false: result.output.n > 1 (result.output.n = 1)`}},
		{"a run that fails behind it", `step "a" {
			agent = agent.coder
			task = "x"
			retry { max_attempts = 2 }
		}
		step "test" {
			run = ["test"]
			depends_on = [step.a]
		}`, map[string]any{"a#1": fail("no disk"), "test": fail("red")}, event.FailedS, []string{"unproven a: no disk"}},
		{"a run that succeeds behind it", `step "a" {
			agent = agent.coder
			task = "x"
		}
		step "test" {
			run = ["test"]
			depends_on = [step.a]
		}`, nil, event.Succeeded, []string{"accepted a"}},
		{"a failure behind it that is tolerated", `step "a" {
			agent = agent.coder
			task = "x"
			retry { max_attempts = 2 }
		}
		step "b" {
			agent = agent.other
			task = "y"
		}
		step "test" {
			run = ["test"]
			depends_on = [step.a]
			on_error = "continue"
		}
		step "use" {
			run = ["use"]
			depends_on = [step.b]
		}`, map[string]any{"a#1": fail("no disk"), "test": fail("red")}, event.Succeeded, []string{"unproven a: no disk", "accepted b"}},
		{"one of several instances", `sequence "each" {
			for_each = ["x", "y"]
			on_error = "continue"
			step "a" {
				agent = agent.coder
				task = "x"
			}
			step "test" {
				run = ["test"]
				depends_on = [step.a]
			}
		}`, map[string]any{"each[0]/test": fail("red")}, event.Succeeded, []string{"accepted each[1]/a"}},
		{"a failure of nothing behind it", `step "a" {
			agent = agent.coder
			task = "x"
		}
		step "test" { run = ["test"] }`, map[string]any{"test": fail("red")}, event.FailedS, []string{"accepted a"}},
		{"a failure in a round that another followed", `step "a" {
			agent = agent.coder
			task = "x"
		}
		sequence "loop" {
			step "test" {
				run = ["test", step.a.output]
				on_error = "continue"
			}
			repeat {
				until = "step.test.status == 'succeeded'"
				max = 3
			}
		}`, map[string]any{"a": "x", "loop/i1/test": fail("red")}, event.Succeeded, []string{"accepted a"}},
		{"a gate around it", `sequence "group" {
			step "a" {
				agent = agent.coder
				task = "x"
				retry { max_attempts = 2 }
			}
		}`, map[string]any{"group/a#1": fail("no disk"), "group/a#2": map[string]any{"n": 1.0}}, event.FailedS,
			[]string{"unproven group/a: no disk", `refused group/a: gate "shape" did not pass: n is too small`}},
		{"a gate around it that passes", `sequence "group" {
			step "a" {
				agent = agent.coder
				task = "x"
			}
		}`, map[string]any{"group/a": map[string]any{"n": 2.0}}, event.Succeeded, []string{"accepted group/a"}},
		{"a step that repeats itself", `step "a" {
			agent = agent.coder
			task = "x"
			repeat {
				until = "result.output.n > 1"
				max = 3
			}
		}`, map[string]any{"a/i1": map[string]any{"n": 1.0}, "a/i2": map[string]any{"n": 2.0}}, event.Succeeded,
			[]string{"refused a/i1: round 1 did not meet its condition: result.output.n > 1", "accepted a/i2"}},
		{"a review loop", reviewLoop, map[string]any{"loop/i1/review": review(false, "no tests"), "loop/i2/write#1": fail("no disk"),
			"loop/i2/review": review(false, "no docs"), "loop/i3/review": review(true, "")}, event.Succeeded,
			[]string{"refused loop/i1/write: " + round(1) + ` | review: {"ok":false,"why":"no tests"}`, "unproven loop/i2/write: no disk",
				"refused loop/i2/write: " + round(2) + ` | review: {"ok":false,"why":"no docs"}`, "accepted loop/i3/write", "accepted loop/i3/review"}},
		{"a review loop that comes to its limit", strings.Replace(reviewLoop, "= 5", "= 2", 1), map[string]any{"loop/i1/review": review(false, "no tests"),
			"loop/i2/review": review(false, "no docs")}, event.FailedS,
			[]string{"refused loop/i1/write: " + round(1) + ` | review: {"ok":false,"why":"no tests"}`, "refused loop/i2/write: " + round(2) + ` | review: {"ok":false,"why":"no docs"}`}},
		{"a reviewer whose answer cannot be used", reviewLoop, map[string]any{"loop/i1/review": fail("this is not a Go")}, event.FailedS,
			[]string{"failed loop/i1/review: this is not a Go"}},
		{"a reviewer that fails", strings.Replace(reviewLoop, "step.review.output.ok", "step.review.status == 'succeeded'", 1), map[string]any{"loop/i1/review": fail("this is not a Go"), "loop/i2/review": review(true, "")}, event.Succeeded,
			[]string{"failed loop/i1/review: this is not a Go", "refused loop/i1/write: round 1 did not meet its condition: step.review.status == 'succeeded' | review: null this is not a Go", "accepted loop/i2/write", "accepted loop/i2/review"}},
		{"tests as a reviewer", `sequence "loop" {
			step "write" {
				agent = agent.coder
				task  = "Write it."
			}
			step "test" {
				run = ["test"]
				depends_on = [step.write]
				on_error = "continue"
			}
			repeat {
				until = "step.test.status == 'succeeded'"
				max = 3
				delay = "1s"
			}
		}`, map[string]any{"loop/i1/test": fail("exit code 1")}, event.Succeeded,
			[]string{"refused loop/i1/write: round 1 did not meet its condition: step.test.status == 'succeeded' | test: null exit code 1", "accepted loop/i2/write"}},
		{"a verdict that is computed", `sequence "loop" {
			step "write" {
				agent = agent.coder
				task  = "Write it."
			}
			step "review" {
				agent = agent.critic
				task = "Review ${step.write.output}."
				for_each = ["style", "bugs"]
			}
			step "verdict" { value = step.review.output[0].ok && step.review.output[1].ok }
			repeat {
				until = "result.output.verdict"
				max = 3
			}
		}`, map[string]any{"loop/i1/write": "a", "loop/i1/review[0]": review(true, ""), "loop/i1/review[1]": review(false, "a bug"), "loop/i2/write": "b",
			"loop/i2/review[0]": review(true, ""), "loop/i2/review[1]": review(true, "")}, event.Succeeded,
			[]string{`refused loop/i1/write: round 1 did not meet its condition: result.output.verdict | review: {"ok":true,"why":""} | review: {"ok":false,"why":"a bug"}`,
				"accepted loop/i2/write", "accepted loop/i2/review[0]", "accepted loop/i2/review[1]"}},
		{"a loop in a loop", `sequence "outer" {
			sequence "inner" {
				step "write" {
					agent = agent.coder
					task  = "Write it."
				}
				step "test" {
					run = ["test"]
					depends_on = [step.write]
					on_error = "continue"
				}
				repeat {
					until = "step.test.status == 'succeeded'"
					max = 3
				}
			}
			step "review" {
				agent = agent.critic
				task = "Review it."
				depends_on = [step.inner]
				output = object({ ok = bool })
			}
			repeat {
				until = "step.review.output.ok"
				max = 3
			}
		}`, map[string]any{"outer/i1/inner/i1/test": fail("red"), "outer/i1/review": map[string]any{"ok": false}, "outer/i2/review": map[string]any{"ok": true}}, event.Succeeded,
			[]string{"refused outer/i1/inner/i1/write: round 1 did not meet its condition: step.test.status == 'succeeded' | test: null red",
				"refused outer/i1/inner/i2/write: " + round(1) + ` | review: {"ok":false}`, "accepted outer/i2/inner/i1/write", "accepted outer/i2/review"}},
		{"a for_each in a loop", `sequence "loop" {
			step "write" {
				for_each = ["a", "b"]
				agent = agent.coder
				task  = "Write it."
			}
			repeat {
				until = "result.output.write[1].n > 1"
				max = 3
			}
		}`, map[string]any{"loop/i1/write[1]": map[string]any{"n": 1.0}, "loop/i2/write[1]": map[string]any{"n": 2.0}}, event.Succeeded,
			[]string{"refused loop/i1/write[0]: round 1 did not meet its condition: result.output.write[1].n > 1 | write: {} | write: {\"n\":1}",
				"refused loop/i1/write[1]: round 1 did not meet its condition: result.output.write[1].n > 1 | write: {} | write: {\"n\":1}",
				"accepted loop/i2/write[0]", "accepted loop/i2/write[1]"}},
		{"loops in a for_each", `step "a" {
			for_each = ["x", "y"]
			agent = agent.coder
			task = "x"
			on_error = "continue"
			repeat {
				until = "result.output.n > 1"
				max = 2
			}
		}`, map[string]any{"a[0]/i1": map[string]any{"n": 2.0}, "a[1]/i1": map[string]any{"n": 1.0}, "a[1]/i2": map[string]any{"n": 0.0}}, event.Succeeded,
			[]string{"accepted a[0]/i1", "refused a[1]/i1: round 1 did not meet its condition: result.output.n > 1", "refused a[1]/i2: round 2 did not meet its condition: result.output.n > 1"}},
		{"keys of any kind", `step "a" {
			for_each = toset(["a]b/i9", "c\"[d", "i1", "x"])
			agent = agent.coder
			task = "x"
			repeat {
				until = "result.output.n > 1"
				max = 2
			}
		}`, map[string]any{`a["a]b/i9"]/i1`: map[string]any{"n": 1.0}, `a["a]b/i9"]/i2`: map[string]any{"n": 2.0}, `a["c\"[d"]/i1`: map[string]any{"n": 1.0},
			`a["c\"[d"]/i2`: map[string]any{"n": 2.0}, "a[i1]/i1": map[string]any{"n": 2.0}, "a[x]/i1": map[string]any{"n": 2.0}}, event.Succeeded,
			[]string{`refused a["a]b/i9"]/i1: round 1 did not meet its condition: result.output.n > 1`, `accepted a["a]b/i9"]/i2`,
				`refused a["c\"[d"]/i1: round 1 did not meet its condition: result.output.n > 1`, `accepted a["c\"[d"]/i2`, "accepted a[i1]/i1", "accepted a[x]/i1"}},
		{"as often as it says", `step "a" {
			agent = agent.coder
			task = "x"
			repeat { max = 2 }
		}`, nil, event.Succeeded, []string{"accepted a/i1", "accepted a/i2"}},
		{"in a run that ends early", `step "a" {
			agent = agent.coder
			task = "x"
			retry { max_attempts = 2 }
		}
		step "stop" {
			end { status = "cancelled" }
			depends_on = [step.a]
		}`, map[string]any{"a#1": fail("no disk")}, event.Cancelled, []string{"unproven a: no disk"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := load(t, agents+"workflow \"w\" {\n"+c.src+"\n}\n")
			if n := &p.Workflows[0].Nodes[0]; n.Name == "group" {
				n.Gates = []string{"shape"} // the language does not take it yet
			}
			told, end := run(t, p, event.RunStarted{Workflow: "w"}, says(c.says))
			got, want := brief(told), slices.Clone(c.want)
			slices.Sort(got)
			slices.Sort(want)
			if d := cmp.Diff(want, got); d != "" || end != c.end {
				t.Errorf("it %s: %s", end, d)
			}
		})
	}
}

// A review loop of five rounds accepts the work of the last one alone, and tells of each other what the reviewer said.
func TestFiveRoundsAcceptOne(t *testing.T) {
	answers := map[string]any{"loop/i5/review": review(true, "")}
	for n := 1; n < 5; n++ {
		answers[fmt.Sprintf("loop/i%d/review", n)] = review(false, fmt.Sprintf("reason %d", n))
	}
	told, end := run(t, load(t, agents+"workflow \"w\" {\n"+reviewLoop+"\n}\n"), event.RunStarted{Workflow: "w"}, says(answers))
	refused := map[string]string{}
	for _, one := range told {
		switch {
		case one.Ending == tasks.Accepted && !strings.HasPrefix(one.Node, "loop/i5/"):
			t.Errorf("%s is accepted", one.Node)
		case one.Ending == tasks.Refused && len(one.Heard) == 1 && len(one.Learned) == 0:
			refused[one.Node] = value.Text(one.Heard[0].Output)
		case one.Ending != tasks.Accepted && one.Ending != tasks.Open:
			t.Errorf("%+v", one)
		}
	}
	if len(refused) != 4 || !strings.Contains(refused["loop/i4/write"], "reason 4") || end != event.Succeeded {
		t.Errorf("it %s: %v", end, refused)
	}
}

// What ends when the next round has begun, as a loser that is detached does, is not refused with what was said of that one.
func TestLateInARound(t *testing.T) {
	f := tasks.NewFold(load(t, agents+"workflow \"w\" {\n"+reviewLoop+"\n}\n"))
	end := func(node, name string, to event.Status, output value.Value) event.Reaction {
		return event.Reaction{Transitions: []event.Transition{{Node: node, Name: name, To: to, Result: &event.Result{Attempts: 1, Output: output}}}}
	}
	f.Apply(started(), new(event.Reaction))
	for _, node := range []string{"loop/i1/write", "loop/i2/write"} {
		f.Apply(nil, &event.Reaction{Transitions: []event.Transition{{Node: node, Name: "write", To: event.Running}}, Commands: []event.Command{{Start: &event.Attempt{Node: node, Name: "write", Attempt: 1,
			Agent: &event.AgentRequest{Name: "coder", Memory: &event.MemoryUse{Learn: true}}}}}})
	}
	var told []tasks.Task
	for _, r := range []event.Reaction{end("loop/i1/write", "write", event.Succeeded, "1"), end("loop/i2/write", "write", event.Succeeded, "2"),
		end("loop/i2/review", "review", event.Succeeded, review(false, "no docs")), {Transitions: []event.Transition{{Node: "loop/i3", Name: "loop", To: event.Running}}}} {
		list, _ := f.Apply(nil, &r)
		told = append(told, list...)
	}
	if got := strings.Join(brief(told), ", "); got != `refused loop/i2/write: round 2 did not meet its condition: step.review.output.ok | review: {"ok":false,"why":"no docs"}` {
		t.Error(got)
	}
}

// What is told outside of a run is the task as the file has it, with what a person gave, where a step's words stand in it.
func TestWhatWasAskedInTheFilesWords(t *testing.T) {
	const src = `
variable "v" { default = "var" }
locals { l = "loc ${var.v}" }
workflow "main" {
  step "sub" {
    call = workflow.w
    with = { ticket = GIVEN }
  }
  step "find" { run = ["find"] }
}
workflow "w" {
  input "ticket" { type = any }
  step "find" {
    run   = ["find"]
    parse = "json"
  }
  sequence "group" {
    for_each = EACH
    step "a" {
      agent = agent.coder
      task  = TASK
    }
  }
}`
	trusting := strings.ReplaceAll(agents, `"]
}`, `"]
  memory { trusted = true }
}`)
	for _, c := range []struct{ head, given, each, task, parent, want string }{
		{agents, `1`, `[1]`, `"Do ${local.l} for ${input.ticket} in ${run.id}, try ${attempt}."`, "", "Do loc var for T-1 in r, try 1."},
		{agents, `1`, `[1]`, `"Do ${step.find.output.word} for ${input.ticket} and ${ var.v }, ${local.l}."`, "", "Do ${step.find.output.word} for T-1 and var, ${local.l}."},
		{agents, `1`, `[1]`, "<<-EOT\n  Do ${step.find.output.word}\n  now.\n  EOT", "", "Do ${step.find.output.word}\n  now."},
		{agents, `1`, `["x"]`, `"Do ${each.value}."`, "", "Do x."},
		{agents, `1`, `[input.ticket]`, `"Do ${each.value}."`, "", "Do T-1."},
		{agents, `1`, `[step.find.output.word]`, `"Do ${each.value}."`, "", "Do ${each.value}."},
		{agents, `1`, `[1]`, `"Do ${input.ticket}."`, "m", "Do T-1."},
		{agents, `step.find.output`, `[1]`, `"Do ${input.ticket}."`, "m", "Do ${input.ticket}."},
		{agents, `step.find.output`, `[1]`, `"Do ${input.ticket}."`, "", "Do T-1."},
		{trusting, `step.find.output`, `[step.find.output.word]`, `"Do ${each.value} of ${input.ticket} with ${step.find.output.word}."`, "m", "Do canary of T-1 with canary."},
	} {
		p := load(t, c.head+strings.NewReplacer("GIVEN", c.given, "EACH", c.each, "TASK", c.task).Replace(src))
		first := event.RunStarted{Workflow: "w", Parent: c.parent, Inputs: map[string]value.Value{"ticket": "T-1"}, Vars: map[string]value.Value{"v": "var"}}
		told, _ := run(t, p, first, says(map[string]any{"find": `{"word":"canary"}`}))
		if len(told) == 0 || told[len(told)-1].Asked != c.want {
			t.Errorf("%s: %+v, want %q", c.task, told, c.want)
		}
	}
}

// A rule of adapt gives inputs, too: what it computes from figures is the file's, and what it hands on of its own inputs is not.
func TestWhatRulesGiveToTheirRuns(t *testing.T) {
	for with, want := range map[string]string{
		`"${metrics.failed} failed"`: "Look into T-1.",
		`input.word`:                 "Look into ${input.what}.",
	} {
		p := load(t, agents+`
workflow "main" {
  step "find" { run = ["find"] }
  step "sub" {
    call = workflow.w
    with = { word = step.find.output }
  }
}
workflow "w" {
  input "word" { type = string }
  sequence "s" {
    adapt {
      when     = "metrics.failed > 1"
      workflow = workflow.heal
      with     = { what = `+with+` }
    }
    step "b" { run = ["b"] }
  }
}
workflow "heal" {
  input "what" { type = string }
  step "a" {
    agent = agent.coder
    task  = "Look into ${input.what}."
  }
}`)
		told, _ := run(t, p, event.RunStarted{Workflow: "heal", Parent: "w", Inputs: map[string]value.Value{"what": "T-1"}}, says(nil))
		if len(told) == 0 || told[len(told)-1].Asked != want {
			t.Errorf("%s: %+v, want %q", with, told, want)
		}
	}
}

// A called run does not know what its caller makes of it: where something there may refuse it, nothing is accepted.
func TestCalledRunsAreJudgedByTheirCallers(t *testing.T) {
	for call, want := range map[string]string{
		``: "accepted a",
		`repeat {
			until = "result.output.n > 1"
			max = 2
		}`: "",
		`gate "g" { check = "result.output.n > 1" }`: "",
	} {
		p := load(t, agents+`
workflow "main" {
	step "sub" {
		call = workflow.sub
		`+call+`
	}
}
workflow "sub" {
	step "a" {
		agent = agent.coder
		task = "x"
	}
	output "n" { value = 1 }
	adapt {
		when     = "metrics.failed > 1"
		workflow = workflow.heal
	}
}
workflow "heal" {
	step "a" {
		agent = agent.coder
		task = "x"
	}
}`)
		told, _ := run(t, p, event.RunStarted{Workflow: "heal", Parent: "m"}, says(nil)) // a rule of a run that is called starts it
		if got := strings.Join(brief(told), ", "); got != want {
			t.Errorf("%q called, whose rule starts a run: %q, want %q", call, got, want)
		}
		for parent, want := range map[string]string{"m": want, "": "accepted a"} {
			told, _ := run(t, p, event.RunStarted{Workflow: "sub", Parent: parent}, says(nil))
			if got := strings.Join(brief(told), ", "); got != want {
				t.Errorf("%q called by %q: %q, want %q", call, parent, got, want)
			}
		}
	}
}

// Loops in loops, as deep and as often as chance has it: what is accepted belongs to the last round of each repeat around it, in a
// run that succeeded.
func TestNoRefusedRoundIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		depth := rapid.IntRange(1, 3).Draw(t, "depth")
		var open, shut strings.Builder
		for d := range depth {
			kind := rapid.SampledFrom([]string{"sequence", "parallel"}).Draw(t, "kind")
			fmt.Fprintf(&open, "%s \"g%d\" {\n", kind, d)
			if rapid.Bool().Draw(t, "each") {
				open.WriteString("for_each = [1, 2]\non_error = \"continue\"\n")
			}
			fmt.Fprintf(&open, "repeat {\n until = \"step.j%d.output == 'ok'\"\n max = %d\n}\n", d, rapid.IntRange(1, 3).Draw(t, "max"))
			shut.WriteString(fmt.Sprintf("step \"j%d\" {\n run = [\"judge\"]\n depends_on = [step.%s]\n}\n}\n", depth-1-d,
				map[bool]string{true: "a", false: fmt.Sprintf("g%d", depth-d)}[d == 0]))
		}
		src := agents + "workflow \"w\" {\n" + open.String() + "step \"a\" {\nagent = agent.coder\ntask = \"x\"\nretry { max_attempts = 2 }\n}\n" + shut.String() + "}\n"
		p := loadRapid(t, src)
		last := map[string]bool{} // what judges said last
		said := map[string]string{}
		verdicts := rapid.SliceOfN(rapid.IntRange(0, 3), 64, 64).Draw(t, "verdicts")
		next := 0
		told, end := run(t, p, event.RunStarted{Workflow: "w"}, func(path string, attempt int) (value.Value, *event.Error) {
			v := verdicts[next%len(verdicts)]
			next++
			switch {
			case strings.HasSuffix(path, "/a") && v == 0 && attempt == 1:
				return no("no disk")
			case strings.HasSuffix(path, "/a"):
				return nil, nil
			case v < 2:
				said[path] = "ok"
				return "ok", nil
			}
			said[path] = "no"
			return "no", nil
		})
		for _, one := range told {
			if one.Ending != tasks.Accepted {
				continue
			}
			if last[one.Node] {
				t.Fatalf("%s is accepted twice", one.Node)
			}
			last[one.Node] = true
			parts := strings.Split(one.Node, "/")
			for i := 0; i+1 < len(parts); i++ {
				if strings.HasPrefix(parts[i], "i") {
					d := (i - 1) / 2
					judge := strings.Join(parts[:i+1], "/") + fmt.Sprintf("/j%d", d)
					if said[judge] != "ok" {
						t.Fatalf("%s is accepted, and %s said %q (the run %s)\n%s", one.Node, judge, said[judge], end, src)
					}
				}
			}
		}
	})
}

func loadRapid(t *rapid.T, src string) *tasks.Program {
	p, list := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(src)}}, "w.flow.hcl", dsl.Options{})
	if p == nil || p.IR == nil {
		t.Fatalf("%v\n%s", list, src)
	}
	return tasks.NewProgram(p.IR)
}
