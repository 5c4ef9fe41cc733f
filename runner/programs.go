package runner

import (
	"container/list"
	"fmt"
	"sync"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	loop "github.com/flowrun/flowrun/loop/machine"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
)

// Bounds of the cache of programs. The program that was used last stays in the cache, however large it is.
const (
	// MaxPrograms is how many programs the cache holds.
	MaxPrograms = 32
	// MaxProgramBytes is how large their definitions are together. A loaded program takes about ten times its definition.
	MaxProgramBytes = 8 << 20
)

// MaxConcurrency is how many attempts of a run there can be at once, whatever its workflow says.
const MaxConcurrency = limits.MaxConcurrency

// Programs loads the definitions that runs pin, and keeps those that were used last, each with the graphs of its workflows. A
// definition is loaded once: when a run is made, when the run is driven, and for every run that it calls, the cache has the program.
// It is safe for concurrent use; the zero value is empty.
type Programs struct {
	mu     sync.Mutex
	byHash map[string]*list.Element // of *Program
	recent list.List                // the program that was used last is the first
	bytes  int
}

// Program is a loaded program with the graphs of its workflows. Everyone who has the program shares it, and nobody changes it.
type Program struct {
	*ir.Program
	// Hash is the hash of the definition.
	Hash string

	bytes  int // of the definition
	load   sync.Once
	err    error
	mu     sync.Mutex
	graphs map[string]*plan.Graph
}

// Load gives the program of a definition. hash is the hash in the header of a journal; "" means that the caller does
// not know the hash.
func (c *Programs) Load(hash string, definition []byte) (*Program, error) {
	if hash == "" {
		hash = ir.Hash(definition)
	}
	p := c.takeEntry(hash, len(definition))
	p.load.Do(func() {
		if have := ir.Hash(definition); have != hash {
			p.err = fmt.Errorf("%w: the definition has the hash %s, not %s", journal.ErrBroken, have, hash)
			return
		}
		p.Program, p.err = ir.Load(definition)
	})
	if p.err != nil {
		c.dropFailed(p)
		return nil, p.err
	}
	return p, nil
}

// takeEntry gives the entry of a hash, and makes it where there is none. The entries that were used longest ago go then.
func (c *Programs) takeEntry(hash string, bytes int) *Program {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byHash[hash]; e != nil {
		c.recent.MoveToFront(e)
		return e.Value.(*Program)
	}
	if c.byHash == nil {
		c.byHash = map[string]*list.Element{}
	}
	p := &Program{Hash: hash, bytes: bytes, graphs: map[string]*plan.Graph{}}
	c.byHash[hash], c.bytes = c.recent.PushFront(p), c.bytes+bytes
	for c.recent.Len() > 1 && (c.recent.Len() > MaxPrograms || c.bytes > MaxProgramBytes) {
		c.removeEntry(c.recent.Back())
	}
	return p
}

// dropFailed removes a program that could not be loaded.
func (c *Programs) dropFailed(p *Program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byHash[p.Hash]; e != nil && e.Value == p {
		c.removeEntry(e)
	}
}

// removeEntry takes an entry out. The caller holds the lock.
func (c *Programs) removeEntry(e *list.Element) {
	p := c.recent.Remove(e).(*Program)
	delete(c.byHash, p.Hash)
	c.bytes -= p.bytes
}

// Graph gives the graph of one of the program's workflows. It is built once.
func (p *Program) Graph(workflow string) (*plan.Graph, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g := p.graphs[workflow]; g != nil {
		return g, nil
	}
	g, err := plan.Build(p.Program, workflow)
	if err == nil {
		p.graphs[workflow] = g
	}
	return g, err
}

// Machine is the engine.Factory of runs: it makes the machine of one run from the program that the run pins.
func (c *Programs) Machine(h journal.Header, definition []byte) (engine.Machine, error) {
	return c.machine(h, definition, nil)
}

// Restore makes the machine of one run from its state, as the machine's AppendState made it.
func (c *Programs) Restore(h journal.Header, definition, state []byte) (engine.Machine, error) {
	return c.machine(h, definition, &state)
}

// machine makes a fresh machine, or that of a state. Each kind can be kept as bytes: without that, a long run on Temporal does not continue.
func (c *Programs) machine(h journal.Header, definition []byte, state *[]byte) (engine.Restorable, error) {
	p, g, err := c.graphOf(h, definition)
	if err != nil {
		return nil, err
	}
	rules := ir.RulesOf(h.Behaviour)
	eval := expr.NewEvaluator(rules, p.Files)
	l := p.Loop(h.Workflow)
	switch {
	case l != nil && state != nil:
		return loop.Restore(g, l, eval, rules, *state)
	case l != nil:
		return loop.New(g, l, eval, rules), nil
	case state != nil:
		return machine.Restore(g, eval, rules, *state)
	}
	return machine.New(g, eval, rules), nil
}

// graphOf gives the program of a run, and the graph of its workflow.
func (c *Programs) graphOf(h journal.Header, definition []byte) (*Program, *plan.Graph, error) {
	if h.Behaviour > ir.Behaviour {
		return nil, nil, fmt.Errorf("run %s follows rules of number %d; this release knows them up to %d: use a newer flowrun",
			h.Run, h.Behaviour, ir.Behaviour)
	}
	p, err := c.Load(h.Definition, definition)
	if err != nil {
		return nil, nil, err
	}
	g, err := p.Graph(h.Workflow)
	return p, g, err
}
