package machine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/snapshot/snapshottest"
)

// TestScripts runs testdata/*.txt: a workflow, then one event a stanza, and below the rule everything that the machine
// does about it. Run with -rewrite to write the reactions anew; commit the difference only if you can explain every line.
//
//	program         the workflow file that follows
//	ir NODE         what follows, as JSON, is laid over the node (or workflow, or program) as it was lowered; {"=": V} is a
//	                constant, {"hcl": TEXT, "reads": […]} and {"cond": …} are expressions
//	start           the run begins; inputs and vars as JSON objects, secrets as names, parallel as a number, expected
//	                (microseconds) and times by name; below it, as JSON, the ends of nodes that it reuses, of the run retry_of
//	result N#A …    attempt A of node N ends: ok, error, lost or refused; stdout, stderr, exit, kind, reason, message, output (JSON),
//	                recalled (JSON), warning
//	gate N#A G …    the same for a gate
//	compensation N#A …  the same for a node's compensation
//	child N STATUS …    the child run of node N ends; outputs (JSON), kind, message
//	timer N WHY late=D   the node's timer fires at its due time or D after it (run for the run's own); WHY for deadline and progress
//	event NAME data=JSON  an event of the name comes; id, and dropped as a number
//	decide N WORD   a person answers the last ask of node N; by, comment and shown as words, input and output as JSON
//	grant N#A       the host grants the attempt that was refused, or is about to be
//	cancel          somebody cancels
//	driver          lost or clean: another process takes over; kept=(N#A,…): workers have these; since=D: the one before was gone for so long, and not since the
//	                last event
//	after D         time passes before the next event
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &session{}
		datadriven.RunTest(t, path, s.run)
		s.replay(t)
	})
}

// session is the machine of a script and what a host would know.
type session struct {
	graph  *plan.Graph
	m      *machine.Machine
	events []event.Event
	trace  []byte
	now    event.Time
	live   map[string]*event.Attempt
	timers map[string]event.SetTimer
	// children are the runs that were asked for last, by their nodes.
	children map[string]*event.StartChild
	asks     map[string]*event.Ask // the last of each node; . is the run
}

func askedNode(path string) string {
	if path == "" {
		return "."
	}
	return path
}

var epoch = event.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

func load(src string) (*ir.Program, error) {
	p, diags := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(src)}}, "w.flow.hcl", dsl.Options{})
	for _, d := range diags {
		if d.Severity == diag.Error { // a warning of what never runs is not an obstacle to showing that it does not
			return nil, d
		}
	}
	return p.IR, nil
}

func (s *session) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "program":
		s.replay(t)
		p, err := load(d.Input)
		if err != nil {
			return err.Error()
		}
		g, err := plan.Build(p, p.Workflows[0].Name)
		if err != nil {
			return err.Error()
		}
		*s = session{graph: g, m: machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules()), now: epoch, live: map[string]*event.Attempt{}, timers: map[string]event.SetTimer{},
			children: map[string]*event.StartChild{}}
		return ""
	case "ir":
		if err := s.patch(d.CmdArgs[0].Key, d.Input); err != nil {
			return err.Error()
		}
		return ""
	case "after":
		wait, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			return err.Error()
		}
		s.now = s.now.Add(wait)
		return ""
	}
	ev, err := s.event(d)
	if err != nil {
		return err.Error()
	}
	return s.feed(ev)
}

func (s *session) event(d *datadriven.TestData) (event.Event, error) {
	if s.graph == nil {
		return event.Event{}, errors.New("there is no program")
	}
	switch d.Cmd {
	case "start":
		r := &event.RunStarted{Run: "aaaaaaaaaaaa", Workflow: s.graph.Workflow.Name, Dir: "/repo", Env: map[string]string{"PATH": "/bin"}}
		for _, a := range d.CmdArgs {
			switch a.Key {
			case "inputs", "vars":
				v, err := value.Decode([]byte(strings.Join(a.Vals, ",")))
				if err != nil {
					return event.Event{}, err
				}
				if a.Key == "inputs" {
					r.Inputs = v.(map[string]any)
				} else {
					r.Vars = v.(map[string]any)
				}
			case "secrets":
				r.Secrets = map[string]event.Secret{}
				for _, name := range a.Vals {
					r.Secrets[name] = event.Secret{From: "--var"}
				}
			case "parallel":
				r.Parallel, _ = strconv.Atoi(a.Vals[0])
			case "expected", "times":
				if err := json.Unmarshal([]byte(strings.Join(a.Vals, ",")), map[string]any{"expected": &r.ExpectedUS, "times": &r.ExpectedTimes}[a.Key]); err != nil {
					return event.Event{}, err
				}
			case "asks", "budget":
				if err := json.Unmarshal([]byte(strings.Join(a.Vals, ",")), map[string]any{"asks": &r.Asks, "budget": &r.Budget}[a.Key]); err != nil {
					return event.Event{}, err
				}
			case "targets":
				r.Targets = a.Vals
			case "retry_of":
				r.RetryOf = a.Vals[0]
			case "skip":
				r.Skip = strings.Join(a.Vals, ",")
			case "cancelled":
				r.Cancelled = strings.Join(a.Vals, ",")
			}
		}
		if d.Input != "" { // what it reuses
			if err := json.Unmarshal([]byte(d.Input), &r.Reused); err != nil {
				return event.Event{}, err
			}
		}
		return event.Event{RunStarted: r}, nil
	case "result":
		return s.answer(d.CmdArgs[0].Key, d.CmdArgs[1:])
	case "compensation":
		return s.answer(d.CmdArgs[0].Key+" compensation", d.CmdArgs[1:])
	case "child":
		return s.child(d.CmdArgs[0].Key, d.CmdArgs[1:])
	case "gate":
		return s.answer(d.CmdArgs[0].Key+" "+d.CmdArgs[1].Key, d.CmdArgs[2:])
	case "timer":
		name := d.CmdArgs[0].Key
		late := time.Duration(0)
		for _, a := range d.CmdArgs[1:] {
			if a.Key == "late" {
				late, _ = time.ParseDuration(a.Vals[0])
				continue
			}
			name += " " + a.Key
		}
		timer, ok := s.timers[name]
		if !ok {
			return event.Event{}, fmt.Errorf("%s has no timer", name)
		}
		delete(s.timers, name)
		s.now = max(s.now, timer.Due.Add(late))
		return event.Event{TimerFired: &event.TimerFired{Timer: timer.Timer, Node: timer.Node}}, nil
	case "grant":
		name := d.CmdArgs[0].Key
		if len(d.CmdArgs) > 1 { // a gate
			name += " " + d.CmdArgs[1].Key
		}
		a := s.live[name]
		if a == nil {
			return event.Event{}, fmt.Errorf("%s was never started", d.CmdArgs[0].Key)
		}
		return event.Event{External: &event.External{Kind: event.ExternalGranted, Node: a.Node, Data: float64(a.Ticket)}}, nil
	case "event":
		data := map[string]any{"name": d.CmdArgs[0].Key, "id": fmt.Sprint("ev-", len(s.events)), "at": s.now.String(), "source": "outside"}
		for _, a := range d.CmdArgs[1:] {
			v, err := value.Decode([]byte(a.Vals[0]))
			if err != nil {
				return event.Event{}, err
			}
			data[a.Key] = v
		}
		return event.Event{External: &event.External{Kind: event.ExternalEvent, Data: data}}, nil
	case "session":
		a := s.live[d.CmdArgs[0].Key]
		if a == nil {
			return event.Event{}, fmt.Errorf("%s was never started", d.CmdArgs[0].Key)
		}
		x := event.SessionExternal(a, d.CmdArgs[1].Key)
		return event.Event{External: &x}, nil
	case "metrics":
		data := map[string]any{}
		for _, a := range d.CmdArgs {
			v, err := value.Decode([]byte(a.Vals[0]))
			if err != nil {
				return event.Event{}, err
			}
			data[a.Key] = v
		}
		return event.Event{External: &event.External{Kind: event.ExternalMetrics, Data: data}}, nil
	case "decide":
		return s.decide(d.CmdArgs)
	case "cancel":
		if len(d.CmdArgs) > 0 { // a node: its path, and by and reason
			x := &event.External{Kind: event.ExternalCancelNode, Node: d.CmdArgs[0].String()}
			for _, a := range d.CmdArgs[1:] {
				switch a.Key {
				case "by":
					x.Data = map[string]any{"by": a.Vals[0]}
				case "reason":
					x.Reason = strings.Join(a.Vals, ",")
				}
			}
			return event.Event{External: x}, nil
		}
		return event.Event{External: &event.External{Kind: "cancel"}}, nil
	case "driver":
		since, kept := s.events[len(s.events)-1].At, []uint64(nil)
		for _, a := range d.CmdArgs[1:] {
			if a.Key == "kept" {
				for _, name := range a.Vals {
					kept = append(kept, s.live[name].Ticket)
				}
				continue
			}
			ago, err := time.ParseDuration(a.Vals[0])
			if err != nil {
				return event.Event{}, err
			}
			since = s.now.Add(-ago)
		}
		return event.Event{DriverChanged: &event.DriverChanged{Lost: d.CmdArgs[0].Key == "lost", Since: since, Kept: kept}}, nil
	}
	return event.Event{}, fmt.Errorf("no stanza %q", d.Cmd)
}

// decide is the decision of a person for the last ask of a node.
func (s *session) decide(args []datadriven.CmdArg) (event.Event, error) {
	q := s.asks[args[0].Key]
	if q == nil {
		return event.Event{}, fmt.Errorf("%s has asked nobody", args[0].Key)
	}
	v := event.Decision{Ask: q.Number, Shown: q.Shown, Word: event.Word(args[1].Key), By: "somebody", At: s.now.String()}
	for _, a := range args[2:] {
		switch a.Key {
		case "by":
			v.By = a.Vals[0]
		case "comment":
			v.Comment = a.Vals[0]
		case "shown":
			v.Shown = a.Vals[0]
		default:
			x, err := value.Decode([]byte(a.Vals[0]))
			if err != nil {
				return event.Event{}, err
			}
			if a.Key == "input" {
				v.Input = x.(map[string]any)
			} else {
				v.Output = x
			}
		}
	}
	return event.Event{External: &event.External{Kind: event.ExternalDecision, Node: q.Node, Data: v.Data()}}, nil
}

func (s *session) answer(name string, args []datadriven.CmdArg) (event.Event, error) {
	a := s.live[name]
	if a == nil {
		return event.Event{}, fmt.Errorf("%s was never started", name)
	}
	f := &event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate, Outcome: event.Outcome(args[0].Key), StartedAt: s.now}
	exit := 0
	if f.Outcome != event.OK {
		f.Error = &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1}
		exit = 1
	}
	if f.Outcome == event.Lost {
		f.Error.Message = ""
	}
	for _, arg := range args[1:] {
		text := strings.Join(arg.Vals, ",")
		switch arg.Key {
		case "stdout", "stderr":
			plain := strings.ReplaceAll(text, `\n`, "\n")
			if arg.Key == "stdout" {
				f.Stdout = plain
			} else {
				f.Stderr = plain
			}
		case "exit":
			exit, _ = strconv.Atoi(text)
			f.Error.ExitCode, f.Error.Message = exit, "exit code "+text
		case "status":
			f.Error.Status, _ = strconv.Atoi(text)
		case "kind":
			f.Error.Kind = event.ErrorKind(text)
		case "reason":
			f.Error.Reason = event.Reason(text)
		case "message":
			f.Error.Message = text
		case "retry_after":
			f.Error.RetryAfter, _ = strconv.ParseFloat(text, 64)
		case "output":
			v, err := value.Decode([]byte(text))
			if err != nil {
				return event.Event{}, err
			}
			f.Output = v
		case "session":
			f.Session = text
		case "recalled":
			if err := json.Unmarshal([]byte(text), &f.Recalled); err != nil {
				return event.Event{}, err
			}
		case "warning":
			f.Warning = text
		case "partial":
			v, err := value.Decode([]byte(text))
			if err != nil {
				return event.Event{}, err
			}
			f.Partial = v
		case "resource":
			f.Resource = text
		case "usage":
			v, err := value.Decode([]byte(text))
			if err != nil {
				return event.Event{}, err
			}
			f.Usage = event.ReadUsage(v)
		}
	}
	if a.Agent == nil && a.HTTP == nil && a.Remember == nil && a.Recall == nil && a.Store == nil && f.Outcome != event.Lost {
		f.ExitCode = &exit
	}
	return event.Event{AttemptFinished: f}, nil
}

// feed steps the machine and writes down everything that it does.
func (s *session) feed(ev event.Event) string {
	ev.Seq, ev.At = uint64(len(s.events)+1), s.now
	s.events = append(s.events, clone(ev))
	var r event.Reaction
	if err := s.m.Step(ev); err != nil {
		return err.Error()
	}
	for s.m.Advance(1000, &r) {
	}
	s.trace = appendTrace(s.trace, &r)
	var b strings.Builder
	for _, t := range r.Transitions {
		fmt.Fprintln(&b, transition(t))
	}
	for _, c := range r.Commands {
		switch {
		case c.Ask != nil:
			if s.asks == nil {
				s.asks = map[string]*event.Ask{}
			}
			s.asks[askedNode(c.Ask.Node)] = c.Ask
		case c.Start != nil:
			s.live[attemptName(c.Start)] = c.Start
		case c.SetTimer != nil:
			s.timers[timerName(c.SetTimer)] = *c.SetTimer
		case c.StartChild != nil:
			s.children[c.StartChild.Node] = c.StartChild
		}
		fmt.Fprintln(&b, "  "+command(c, s.now))
	}
	if b.Len() == 0 {
		return "nothing"
	}
	return b.String()
}

// clone keeps a script's events safe from whoever might change them.
func clone(ev event.Event) event.Event {
	b, _ := json.Marshal(ev)
	var c event.Event
	if err := json.Unmarshal(b, &c); err != nil {
		panic(err)
	}
	return c
}

func attemptName(a *event.Attempt) string {
	name := fmt.Sprintf("%s#%d", a.Node, a.Attempt)
	if a.Gate != "" {
		name += " " + a.Gate[strings.LastIndex(a.Gate, "/")+1:]
	}
	if a.Compensate {
		name += " compensation"
	}
	return name
}

func timerName(t *event.SetTimer) string {
	switch {
	case t.Purpose == event.TimerAdapt:
		return strings.TrimPrefix(t.Node+" adapt", " ")
	case t.Node == "":
		return "run"
	case t.Purpose == event.TimerDeadline || t.Purpose == event.TimerProgress:
		return t.Node + " " + string(t.Purpose)
	}
	return t.Node
}

// child is the end of a child run.
func (s *session) child(node string, args []datadriven.CmdArg) (event.Event, error) {
	c := s.children[node]
	if c == nil {
		return event.Event{}, fmt.Errorf("%s has no child", node)
	}
	f := &event.ChildFinished{Run: c.Run, Node: node, Status: event.Status(args[0].Key)}
	for _, arg := range args[1:] {
		text := strings.Join(arg.Vals, ",")
		if arg.Key == "outputs" {
			v, err := value.Decode([]byte(text))
			if err != nil {
				return event.Event{}, err
			}
			f.Outputs = v.(map[string]any)
			continue
		}
		if arg.Key == "usage" {
			f.Usage = &event.Usage{}
			if err := json.Unmarshal([]byte(text), f.Usage); err != nil {
				return event.Event{}, err
			}
			continue
		}
		if f.Error == nil {
			f.Error = &event.Error{Kind: event.Recoverable, ExitCode: -1}
		}
		switch arg.Key {
		case "kind":
			f.Error.Kind = event.ErrorKind(text)
		case "message":
			f.Error.Message = text
		}
	}
	return event.Event{ChildFinished: f}, nil
}

func transition(t event.Transition) string {
	name := t.Node
	if name == "" {
		name = "run"
	}
	if g := t.Gate; g != nil {
		switch {
		case g.Passed:
			return fmt.Sprintf("%s: gate %s passed", name, g.Gate)
		case g.Warning:
			return fmt.Sprintf("%s: gate %s warns: %s", name, g.Gate, strings.ReplaceAll(g.Words(), "\n", " | "))
		}
		return fmt.Sprintf("%s: gate %s says no: %s", name, g.Gate, strings.ReplaceAll(g.Words(), "\n", " | "))
	}
	s := name + ":"
	if t.Note != "" {
		s += " " + string(t.Note)
		if t.Reason != "" {
			s += " (" + t.Reason + ")"
		}
		return s
	}
	if t.From != "" {
		s += " " + string(t.From)
	}
	s += " -> " + string(t.To)
	if t.Attempt > 0 && !t.To.Terminal() {
		s += fmt.Sprintf(" #%d", t.Attempt)
	}
	if t.Reason != "" {
		s += " (" + t.Reason + ")"
	}
	if w := t.WaitsFor; w != nil {
		s += fmt.Sprintf(" waits_for=%s %s", w.Kind, w.Name)
		if w.Until != 0 {
			s += " until=+" + w.Until.Sub(t.At).String()
		}
	}
	if r := t.Result; r != nil {
		if r.Error != nil {
			s += fmt.Sprintf(" error=%s/%s: %s", r.Error.Kind, r.Error.Reason, r.Error.Message)
		}
		if r.Output != nil {
			s += " output=" + string(value.Append(nil, r.Output))
		}
		if r.Tolerated {
			s += " tolerated"
		}
		if r.Winner != "" {
			s += " winner=" + r.Winner
		}
		if r.Iterations > 0 {
			s += fmt.Sprintf(" iterations=%d", r.Iterations)
		}
	}
	return s
}

// needsText is what an attempt needs of what runs share, but for one turn of an agent.
func needsText(a *event.Admission) (s string) {
	if a == nil {
		return ""
	}
	for _, n := range a.Needs {
		if n.Kind == event.NeedAgent && n.Pace == nil && n.Breaker == nil {
			continue
		}
		s += fmt.Sprintf("\n    needs %s %s", n.Kind, n.Name)
		if n.Units > 0 {
			s += fmt.Sprintf(" %d/%d", n.Units, n.Capacity)
		}
		if n.Pace != nil {
			s += fmt.Sprintf(" pace=%d/%s", n.Pace.Requests, n.Pace.Per)
		}
		if p := n.Spending; p != nil {
			s += fmt.Sprintf(" spending=%+v/%s", p.Most, p.Per)
		}
		if b := n.Breaker; b != nil {
			s += fmt.Sprintf(" breaker=%d/%s", b.Failures, b.Reset)
			if b.When != nil {
				s += " when " + lateText(b.When)
			}
		}
	}
	return s
}

// lateText is an expression that is left to the host, with all that it is told.
func lateText(l *event.Late) string {
	s := fmt.Sprintf("%q", l.Expr.Text)
	for _, name := range value.Keys(l.Names) {
		s += fmt.Sprintf(" %s=%s", name, value.Append(nil, l.Names[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(l.Locals)) {
		s += fmt.Sprintf(" local.%s is %q", name, l.Locals[name].Text)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Inputs)) {
		inner := l.Inputs[name]
		s += fmt.Sprintf(" input.%s is [%s]", name, lateText(&inner))
	}
	return s
}

// lateInputs are the inputs of a child that are left to the host.
func lateInputs(late map[string]event.Late) (s string) {
	for _, name := range slices.Sorted(maps.Keys(late)) {
		l := late[name]
		s += fmt.Sprintf("\n    late %s: %s", name, lateText(&l))
		for i := range l.Rules {
			s += fmt.Sprintf(" if %s, else %q", lateText(&l.Rules[i]), l.Rules[i].Message)
		}
	}
	return s
}

func command(c event.Command, now event.Time) string {
	switch {
	case c.Start != nil:
		a := c.Start
		s := "start " + attemptName(a)
		if a.Argv != nil {
			s += fmt.Sprintf(" %q", a.Argv)
		}
		if a.Script != "" {
			s += fmt.Sprintf(" sh %q", a.Script)
		}
		for i, v := range a.Values {
			s += fmt.Sprintf(" V%d=%q", i, v)
		}
		if a.Stdin != nil {
			s += fmt.Sprintf(" stdin=%q", *a.Stdin)
		}
		if a.PassEnv != nil {
			s += fmt.Sprintf(" pass_env=%v", a.PassEnv)
		}
		if a.OutputFile {
			s += " output_file"
		}
		if q := a.Agent; q != nil {
			s += " agent " + q.Name
			if q.PassEnv != nil {
				s += fmt.Sprintf(" pass_env=%v", q.PassEnv)
			}
			if q.Task != "" {
				s += fmt.Sprintf(" task=%q", q.Task)
			}
			if q.With != nil {
				s += " with=" + string(value.Append(nil, q.With))
			}
			if q.Feedback != "" {
				s += fmt.Sprintf(" feedback=%q", q.Feedback)
			}
			if q.Soul != "" {
				s += fmt.Sprintf(" soul=%q", q.Soul)
			}
			if q.Session != "" {
				s += " session=" + q.Session
			}
			if q.Memory != nil {
				b, _ := json.Marshal(q.Memory)
				s += " memory=" + string(b)
			}
		}
		if h := a.HTTP; h != nil {
			s += " " + h.Method + " " + h.URL
			for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
				s += fmt.Sprintf(" %s=%q", name, h.Headers[name])
			}
			if h.Body != "" {
				s += fmt.Sprintf(" body=%q", h.Body)
			}
			if h.Expect != nil {
				s += fmt.Sprintf(" expect=%v", h.Expect)
			}
			if h.Follow+h.MaxBytes != 0 {
				s += fmt.Sprintf(" follow=%d max=%d", h.Follow, h.MaxBytes)
			}
		}
		if a.Remember != nil {
			b, _ := json.Marshal(a.Remember)
			s += " remember " + string(b)
		}
		if a.Notify != nil {
			b, _ := json.Marshal(a.Notify)
			s += " notify " + string(b)
		}
		if a.Store != nil {
			b, _ := json.Marshal(a.Store)
			s += " store " + string(b)
		}
		if a.Benchmark != nil {
			b, _ := json.Marshal(a.Benchmark)
			s += " benchmark " + string(b)
		}
		if a.Recall != nil {
			b, _ := json.Marshal(a.Recall)
			s += " recall " + string(b)
		}
		if a.Dir != "/repo" {
			s += " dir=" + a.Dir
		}
		if a.Env != nil {
			s += fmt.Sprintf(" env=%v", a.Env)
		}
		if a.Timeout != 0 {
			s += " timeout=" + a.Timeout.String()
		}
		s += needsText(a.Admission)
		for i := range a.Late {
			s += fmt.Sprintf("\n    late %s (%s): %s", a.Late[i].Place, a.Late[i].What, lateText(&a.Late[i]))
		}
		return s
	case c.Cancel != nil:
		s := fmt.Sprintf("cancel %s (%s)", c.Cancel.Node, c.Cancel.Reason)
		if c.Cancel.Leaves != "" {
			s += ", leaves its sync point"
		}
		return s
	case c.Ask != nil:
		q := c.Ask
		text := fmt.Sprintf("ask %s %s %q %v", askedNode(q.Node), q.Kind, q.Prompt, q.Words)
		if q.Show != nil {
			text += " show=" + string(value.Append(nil, q.Show))
		}
		if q.Approvers != nil {
			text += fmt.Sprintf(" approvers=%v", q.Approvers)
		}
		if q.Quorum+q.Rejections > 2 {
			text += fmt.Sprintf(" quorum=%d rejections=%d", q.Quorum, q.Rejections)
		}
		if q.Until != 0 {
			text += fmt.Sprintf(" until=+%s", q.Until.Sub(now))
		}
		return text
	case c.EndAsk != nil:
		text := fmt.Sprintf("end_ask %s %s by %v", askedNode(c.EndAsk.Node), c.EndAsk.Word, c.EndAsk.By)
		if c.EndAsk.Why != "" {
			text += " (" + c.EndAsk.Why + ")"
		}
		return text
	case c.SetTimer != nil:
		return fmt.Sprintf("set_timer %s at=+%s for %s", timerName(c.SetTimer), c.SetTimer.Due.Sub(now), c.SetTimer.Purpose)
	case c.StartChild != nil:
		within := ""
		if c.StartChild.Budget != nil {
			within = fmt.Sprintf(" within %+v", *c.StartChild.Budget)
		}
		if c.StartChild.Asks != nil {
			within += fmt.Sprintf(" asks %+v", *c.StartChild.Asks)
		}
		return fmt.Sprintf("start_child %s of %s workflow %s%s inputs=%s", c.StartChild.Run, c.StartChild.Node, c.StartChild.Workflow, within,
			value.Append(nil, map[string]any(c.StartChild.Inputs))) + lateInputs(c.StartChild.Late)
	case c.CancelChild != nil:
		s := "cancel_child " + c.CancelChild.Run + " of " + c.CancelChild.Node
		if c.CancelChild.Now {
			s += " now"
		}
		return s
	case c.CancelTimer != nil:
		return fmt.Sprintf("cancel_timer %d", c.CancelTimer.Timer)
	case c.End != nil:
		s := "end " + string(c.End.Status)
		if c.End.Outputs != nil {
			s += " " + string(value.Append(nil, map[string]any(c.End.Outputs)))
		}
		if c.End.Error != nil {
			s += fmt.Sprintf(" error=%s/%s", c.End.Error.Kind, c.End.Error.Reason)
		}
		if c.End.Limit {
			s += " limit"
		}
		return s
	}
	return "nothing"
}

// appendTrace writes a reaction with all that is shown.
func appendTrace(dst []byte, r *event.Reaction) []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // plain data
	}
	return append(dst, text...)
}

// replay feeds the events again, in slices of other sizes: every command and transition must come again, to the byte.
func (s *session) replay(t *testing.T) {
	for _, budget := range []int{1, 2, 3, 7, 1 << 20} {
		if s.graph == nil {
			return
		}
		m := snapshottest.NewMachine(s.graph, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules(), func() bool { return budget == 1 })
		var trace []byte
		for _, ev := range s.events {
			if err := m.Step(clone(ev)); err != nil {
				break
			}
			var r event.Reaction
			for m.Advance(budget, &r) {
			}
			trace = appendTrace(trace, &r)
		}
		if !bytes.Equal(trace, s.trace) {
			t.Errorf("replayed in slices of %d the reactions differ:\n%s\nfirst:\n%s", budget, trace, s.trace)
		}
	}
}
