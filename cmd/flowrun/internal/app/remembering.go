package app

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/runner/executor/recall"
)

// remembering is the memory of the runs that this process drives. It is opened when the first attempt has to do with it, by what
// their program says; most programs never do. It is safe for concurrent use.
type remembering struct {
	say     func(string)
	settled func(context.Context) // waits until what has ended is learned
	store   string                // folder of the runs

	mu      sync.Mutex
	says    ir.Memory
	program string // folder of the program
	source  *ir.Program
	known   bool // what the program says
	tried   bool
	memory  *memory.Memory
	err     error
	owed    owed
	refresh time.Duration

	telling sync.Mutex
	told    []string // what did not go well, for a person
}

// settle takes what the program says, before the first attempt.
func (r *remembering) settle(p *ir.Program, dir string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.program, r.source, r.known = dir, nil, true; p.Memory != nil {
		r.says = *p.Memory
	}
	if learns := func(g ir.Agent) bool { return g.Memory != nil }; slices.ContainsFunc(p.Agents, learns) { // it takes 25 MiB for 10,000 steps
		r.source = p
	}
}

// saying is the program whose runs are driven; nil before it is known, and where no agent has a memory.
func (r *remembering) saying() *ir.Program {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source
}

// maxTold bounds how many warnings are kept for the end.
const maxTold = 8

func (r *remembering) warn(text string) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if len(r.told) < maxTold && !slices.Contains(r.told, text) {
		r.told = append(r.told, text)
	}
}

// open gives the memory, and opens it the first time. That the run owes it something is durable before, so that what it taught is
// learned later where there is no memory now.
func (r *remembering) open(run string) (*memory.Memory, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.owed.begin(run); err != nil {
		r.warn("what a crash leaves unlearned of run " + run + " will not be made up for: " + err.Error())
	}
	if !r.tried {
		r.tried = true
		r.memory, r.err = r.make()
	}
	return r.memory, r.err
}

// make opens the memory as the program says.
func (r *remembering) make() (*memory.Memory, error) {
	if !r.known {
		return nil, errors.New("what its program says of it is not known here")
	}
	o, err := memoryOptions(&r.says)
	if err != nil {
		return nil, err
	}
	o.Warn = r.warn
	if r.refresh = r.says.WorkingRefresh; r.refresh == 0 {
		r.refresh, _ = time.ParseDuration(schema.DefaultWorkingRefresh)
	}
	return memory.Open(memoryDir(&r.says, r.store, r.program), o)
}

// folder is where the memory is.
func (r *remembering) folder() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return memoryDir(&r.says, r.store, r.program)
}

// owes tells whether a run has begun to be remembered here.
func (r *remembering) owes(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owed.begun[run]
}

func (r *remembering) paid(run string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owed.paid(run)
}

func (r *remembering) left() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owed.left()
}

// forAttempts gives the memory to executors.
func (r *remembering) forAttempts(run string) (recall.Memory, error) {
	m, err := r.open(run)
	if err != nil {
		return nil, err
	}
	return attempts{m, r.refresh, r.settled}, nil
}

// close closes the memory, and says what did not go well.
func (r *remembering) close() {
	r.mu.Lock()
	m := r.memory
	r.memory, r.err, r.tried = nil, errors.New("the memory is closed"), true
	r.mu.Unlock()
	if m != nil {
		if err := m.Close(); err != nil {
			r.warn(err.Error())
		}
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	for _, text := range r.told {
		r.say("memory: " + text)
	}
}

// saySo tells a person something on the way that does not change how it ends.
func (a *app) saySo(text string) { a.err.Printf("flowrun: %s\n", ui.CleanLines(text)) }
