package enginetest

import (
	"context"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Pool is a number of workers in memory. They outlive the hosts that they work for, and every second time a worker gives an attempt back
// before it begins. A host with a pool is a [Crew].
type Pool struct {
	Workers int

	mu     sync.Mutex
	seats  chan struct{} // one for each worker
	busy   []*work
	taken  int // attempts that workers took so far
	double bool
}

// work is an attempt that a worker carries out.
type work struct {
	event.Attempt
	left chan []event.AttemptFinished // what the worker leaves
}

// CarryOut waits for a worker, lets it carry an attempt out, and returns its answers: none if it gives the attempt back.
func (p *Pool) CarryOut(ctx context.Context, x executor.Executor, a event.Attempt) []event.AttemptFinished {
	p.mu.Lock()
	if p.seats == nil {
		p.seats = make(chan struct{}, p.Workers)
	}
	p.mu.Unlock()
	p.seats <- struct{}{}
	defer func() { <-p.seats }()
	w := p.take(ctx, a)
	if w == nil {
		return nil
	}
	go func() { w.left <- []event.AttemptFinished{x.Execute(ctx, a)} }()
	answers := <-w.left
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy = slices.DeleteFunc(p.busy, func(other *work) bool { return other == w })
	if p.double {
		answers = append(answers, answers...)
	}
	return answers
}

// take lets a worker begin with an attempt, unless it gives the attempt back.
func (p *Pool) take(ctx context.Context, a event.Attempt) *work {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken++; p.taken%2 == 1 || ctx.Err() != nil {
		return nil
	}
	w := &work{a, make(chan []event.AttemptFinished, 2)}
	p.busy = append(p.busy, w)
	return w
}

// stop ends what a worker does at a task, and has it leave something else.
func (p *Pool) stop(task string, leave func(event.Attempt) []event.AttemptFinished) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.busy, func(w *work) bool { return w.Name == task })
	w := p.busy[at]
	p.busy = slices.Delete(p.busy, at, at+1)
	w.left <- leave(w.Attempt)
}

// Drain implements Crew.
func (p *Pool) Drain(task string) {
	p.stop(task, func(event.Attempt) []event.AttemptFinished { return nil })
}

// Lose implements Crew.
func (p *Pool) Lose(task, why string) {
	p.stop(task, func(a event.Attempt) []event.AttemptFinished {
		return []event.AttemptFinished{engine.LostAlone(a, why)}
	})
}

// Double implements Crew.
func (p *Pool) Double() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.double = true
}
