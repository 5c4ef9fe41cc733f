package recall

import (
	"context"
	"fmt"
	"strconv"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// agent carries out an agent's attempt: with what the memory has on its task, and with somebody who hears what it notes.
func (x *Executor) agent(ctx context.Context, a event.Attempt) event.AttemptFinished {
	m, err := x.open(a.Run)
	if err != nil {
		ans := x.next.Execute(ctx, a)
		warn(&ans, "it has no memory: "+clip(err))
		return ans
	}
	warning, use := "", a.Agent.Memory
	var found Found
	if use.Recall {
		if found, err = x.recall(ctx, m, &a); err != nil {
			warning = "nothing was recalled: " + clip(err)
		}
		agent := *a.Agent // what it points to is the machine's
		agent.Recalled, a.Agent = found.Text, &agent
	}
	n := newNotes(ctx, m, &a)
	ans := x.next.Execute(executor.WithNotes(ctx, n.hear), a)
	warn(&ans, warning)
	if err := n.close(); err != nil {
		warn(&ans, "its notes were not kept: "+clip(err))
	}
	ans.Recalled = found.Entries
	return ans
}

// warn adds to what an answer warns of.
func warn(ans *event.AttemptFinished, warning string) {
	switch {
	case warning == "":
	case ans.Warning == "":
		ans.Warning = warning
	default:
		ans.Warning = executor.Clip(ans.Warning+"; "+warning, executor.MaxMessage)
	}
}

// recall asks for what helps with the attempt's task; with the step's name where that has no words.
func (x *Executor) recall(ctx context.Context, m Memory, a *event.Attempt) (Found, error) {
	ctx, done := context.WithTimeout(ctx, MaxRecall)
	defer done()
	task, use := a.Agent.Task, a.Agent.Memory
	if task == "" {
		task = a.Name
	}
	task = executor.Clip(executor.Mask(ctx).Text(task), MaxQuery)
	return m.Recall(ctx, Ask{Who: who(a), Task: task, Budget: use.Budget, Most: use.Most})
}

func who(a *event.Attempt) Who {
	w := Who{Run: a.Run, Step: a.Node}
	if a.Agent != nil {
		w.Agent, w.Groups = a.Agent.Name, a.Agent.Memory.Groups
	}
	return w
}

// clip is an error for a warning.
func clip(err error) string { return executor.Clip(err.Error(), executor.MaxMessage) }

// notes writes what an agent notes while it works, beside its output: embedding takes longer than a pipe may wait.
type notes struct {
	queue chan Entry // holds limits.MaxNotes, so that hear never waits
	heard int
	done  chan struct{}
	err   error
	entry Entry // of which each is a copy
	start func()
}

func newNotes(ctx context.Context, m Memory, a *event.Attempt) *notes {
	n := &notes{entry: Entry{Who: who(a), Key: a.Key, Trusted: a.Agent.Memory.Trusted, Scope: "run", Note: true}}
	n.start = func() {
		n.queue, n.done = make(chan Entry, limits.MaxNotes), make(chan struct{})
		go func() {
			defer close(n.done)
			for e := range n.queue {
				if _, _, err := m.Remember(context.WithoutCancel(ctx), e); err != nil && n.err == nil {
					n.err = err
				}
			}
		}()
	}
	return n
}

// hear takes a note in. It is called by one goroutine, and never after the attempt.
func (n *notes) hear(l event.Learned) {
	if n.heard == limits.MaxNotes {
		return
	}
	if n.heard == 0 {
		n.start()
	}
	n.heard++
	e := n.entry
	e.Learned = l
	n.queue <- e
}

// close waits until all notes are durable, and gives the first error.
func (n *notes) close() error {
	if n.heard == 0 {
		return nil
	}
	close(n.queue)
	<-n.done
	if n.err != nil {
		return fmt.Errorf("of %s notes: %w", strconv.Itoa(n.heard), n.err)
	}
	return nil
}
