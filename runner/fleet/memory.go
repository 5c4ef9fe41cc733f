package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/executor/recall"
	"github.com/flowrun/flowrun/runner/standalone"
)

// What is asked of the worker that serves the memory.
const (
	asksRecall   = "recall"
	asksSearch   = "search"
	asksRemember = "remember"
	asksCommand  = "command"
)

// Bounds of questions to the memory.
const (
	// maxRemember is how long a note of an agent may wait for a worker.
	maxRemember = 30 * time.Second
	// maxCommand is how long a command of a person may take.
	maxCommand = time.Minute
)

// remembered answers a recall.Entry.
type remembered struct {
	ID    string `json:"id"`
	Known bool   `json:"known,omitempty"`
}

// away is the memory of a run as a worker sees it that does not serve the memory.
type away struct {
	host *temporal.Host
	run  string
}

var _ recall.Memory = away{}

func (m away) ask(ctx context.Context, what string, q, answer any) error {
	body, err := json.Marshal(q)
	if err == nil {
		body, err = m.host.AskMemory(ctx, what, m.run, body)
	}
	if err == nil {
		err = json.Unmarshal(body, answer)
	}
	return err
}

// Recall implements recall.Memory.
func (m away) Recall(ctx context.Context, q recall.Ask) (found recall.Found, err error) {
	ctx, done := context.WithTimeout(ctx, recall.MaxRecall)
	defer done()
	return found, m.ask(ctx, asksRecall, q, &found)
}

// Search implements recall.Memory.
func (m away) Search(ctx context.Context, q recall.Search) (result recall.Result, err error) {
	ctx, done := context.WithTimeout(ctx, recall.MaxRecall)
	defer done()
	return result, m.ask(ctx, asksSearch, q, &result)
}

// Remember implements recall.Memory.
func (m away) Remember(ctx context.Context, e recall.Entry) (id string, known bool, err error) {
	ctx, done := context.WithTimeout(ctx, maxRemember)
	defer done()
	var r remembered
	err = m.ask(ctx, asksRemember, e, &r)
	return r.ID, r.Known, err
}

// Command is a command on the memory, as a person types it, and its input.
type Command struct {
	Words  []string `json:"words"`
	Input  []byte   `json:"input,omitempty"`
	Person string   `json:"person"`
}

// Said is what a command printed.
type Said struct {
	Out  []byte `json:"out,omitempty"`
	Err  []byte `json:"err,omitempty"`
	Code int    `json:"code"`
}

// ErrNoMemory says that no worker serves the memory.
var ErrNoMemory = temporal.ErrNoMemory

// OnMemory has the worker that serves the memory carry out a command. The error wraps ErrNoMemory if no worker does it in time.
func (f *Fleet) OnMemory(ctx context.Context, c Command) (said Said, err error) {
	ctx, done := context.WithTimeout(ctx, maxCommand)
	defer done()
	if names, err := f.host.MemoryWorkers(ctx); err == nil && len(names) == 0 {
		return said, temporal.ErrNoMemory
	}
	return said, away{host: f.host}.ask(ctx, asksCommand, c, &said)
}

// memory is what a worker with a memory serves.
type memory struct {
	x    *standalone.Executors
	does func(context.Context, Command) Said
}

// serveMemory has the executors use the memory of this machine, and lets other workers use it.
func (f *Fleet) serveMemory(x *standalone.Executors, o *WorkerOptions) *temporal.MemoryOptions {
	if !o.Memory {
		x.Service().MemoryBy(func(run string) recall.Memory { return away{f.host, run} })
		return nil
	}
	x.Service().ServeMemory(func(dir string) (string, error) { return work.Place(o.Workspace, dir) })
	x.Service().MemoryBy(x.Service().ServedMemory)
	m := &memory{x, o.OnMemory}
	return &temporal.MemoryOptions{Folder: o.Store, Answer: m.answer, Learn: x.Service().LearnServed}
}

func (m *memory) answer(ctx context.Context, what, run string, body []byte) ([]byte, error) {
	of := m.x.Service().ServedMemory(run)
	var answer any
	var err error
	switch what {
	case asksRecall:
		var q recall.Ask
		if err = json.Unmarshal(body, &q); err == nil {
			answer, err = of.Recall(ctx, q)
		}
	case asksSearch:
		var q recall.Search
		if err = json.Unmarshal(body, &q); err == nil {
			answer, err = of.Search(ctx, q)
		}
	case asksRemember:
		var e recall.Entry
		if err = json.Unmarshal(body, &e); err == nil {
			var r remembered
			r.ID, r.Known, err = of.Remember(ctx, e)
			answer = r
		}
	case asksCommand:
		var c Command
		if err = json.Unmarshal(body, &c); err == nil {
			answer = m.does(ctx, c)
		}
	default:
		err = fmt.Errorf("the worker that serves the memory is of another release: it does not know %q", what)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// Shared says what is to be known of what runs share, and what keeps it from going on; "": nothing.
func (f *Fleet) Shared(ctx context.Context) (about, trouble string, err error) {
	a, trouble, err := f.host.About(ctx)
	if a != nil && a.Anew != 0 {
		about = fmt.Sprintf("began anew at %s, because its workflow was ended on the server: values, claims and lines of before are lost", a.Anew)
	}
	return about, trouble, err
}

// usesMemory reports whether a run of a program may use the memory.
func usesMemory(p *ir.Program) bool {
	for i := range p.Agents {
		if p.Agents[i].Memory != nil {
			return true
		}
	}
	for i := range p.Workflows {
		w := &p.Workflows[i]
		if hasMemorySteps(w.Nodes) || w.Finally != nil && hasMemorySteps(w.Finally.Nodes) {
			return true
		}
	}
	return false
}

func hasMemorySteps(nodes []ir.Node) bool {
	for n := range ir.All(nodes) {
		switch n.Action.(type) {
		case *ir.Remember, *ir.Recall:
			return true
		}
	}
	return false
}

// MissesMemory reports whether a run uses the memory while no worker serves it.
func MissesMemory(i *engine.Info) bool {
	return i.Driver != 0 && strings.HasSuffix(i.Trouble, temporal.ErrNoMemory.Error())
}

// MemoryWorkers are the names of the workers that serve the memory, and how many runs that have ended it has not learned from.
func (f *Fleet) MemoryWorkers(ctx context.Context) (names []string, unlearned int64, err error) {
	names, err = f.host.MemoryWorkers(ctx)
	if err == nil {
		unlearned, err = f.host.Unlearned(ctx)
	}
	return names, unlearned, err
}
