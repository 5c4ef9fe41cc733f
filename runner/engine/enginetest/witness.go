package enginetest

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// witness is an executor that remembers what it was asked, outside of all stores.
type witness struct {
	mu    sync.Mutex
	calls []event.Attempt
	// fails says how often a task fails before it succeeds.
	fails map[string]int
	// falters are tasks whose first attempt fails, however often it is made.
	falters map[string]bool
	// pauses says for how many seconds a task wants nothing more of its agent, at its first attempt.
	pauses map[string]float64
	// hangs are tasks that block until their context is done; cause gets why.
	hangs map[string]bool
	begun chan string
	cause chan error
	// live is how many attempts at scarce tasks are made now, and most the most at once.
	live, most int
}

func newWitness() *witness {
	return &witness{fails: map[string]int{}, falters: map[string]bool{}, hangs: map[string]bool{}, begun: make(chan string, 100), cause: make(chan error, 100)}
}

func (w *witness) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	w.mu.Lock()
	w.calls = append(w.calls, a)
	failing, hanging := w.fails[a.Name] > 0 || w.falters[a.Name] && a.Attempt == 1, w.hangs[a.Name]
	if failing {
		w.fails[a.Name]--
	}
	if a.Admission != nil {
		w.live++
		w.most = max(w.most, w.live)
		defer w.ended()
	}
	pause := w.pauses[a.Name]
	delete(w.pauses, a.Name)
	w.mu.Unlock()
	if a.Admission != nil {
		runtime.Gosched() // others may start now, if nothing keeps them from it
	}
	f := executor.Answer(a)
	f.Outcome = event.OK
	if a.Agent != nil {
		f.Output = a.Agent.With
	}
	if hanging {
		w.begun <- a.Name
		<-ctx.Done()
		w.cause <- context.Cause(ctx)
		failing = true
	}
	if failing {
		f.Outcome = event.Failed
		f.Error = &event.Error{Kind: event.Transient, Message: "as told", ExitCode: -1}
	}
	if pause > 0 {
		f.Outcome = event.Failed
		f.Error = &event.Error{Kind: event.RateLimited, Message: "later", RetryAfter: pause, ExitCode: -1}
	}
	return f
}

// Holds implements executor.Judge: a condition is the kind of the errors that it holds for.
func (w *witness) Holds(_ string, condition *event.Late) (bool, error) {
	if condition.Names["attempt"] != 1.0 && condition.Names["attempt"] != 2.0 {
		return false, fmt.Errorf("the names are %v", condition.Names)
	}
	return condition.Names["error.kind"] == condition.Expr.Text && condition.Names["elapsed"].(float64) >= 0, nil
}

func (w *witness) ended() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live--
}

// took gives the attempts of a task so far.
func (w *witness) took(name string) []event.Attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []event.Attempt
	for _, a := range w.calls {
		if a.Name == name {
			list = append(list, a)
		}
	}
	return list
}

func (w *witness) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.calls)
}

func (w *witness) allow(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.hangs, name)
}
