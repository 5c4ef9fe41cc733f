package runner

import (
	"context"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/given"
	"github.com/flowrun/flowrun/runner/learning"
)

// Session is the state that no journal has of a tree of runs, which is a run and the runs that it calls: secrets, masks, an
// evaluator, a memory, and an editor for the learnings. Two trees share none of it.
type Session struct {
	service *Service
	secrets *secret.Executor
	memory  *learning.Binding
	editor  *learning.Editor // nil where the program names none
	// withheld are the variables of the environment that may hold a secret of the tree.
	withheld []string
	root     string // the first run of the tree
}

// held is the part of a session that nothing but this process has.
type held struct {
	secrets map[string]value.Value
	made    []string         // texts that were computed from the secrets; nil before the first session
	pending learning.Pending // runs with learnings that the memory does not have yet
}

// newSession makes the session of a tree of runs, which have the same rules.
func (s *Service) newSession(p *Program, rules ir.Rules, first *event.RunStarted, h held) *Session {
	x := &Session{service: s, memory: s.library.Bind(p.Program, first.Dir, h.pending), root: first.Run}
	for _, d := range p.Variables {
		if d.Sensitive {
			x.withheld = append(x.withheld, given.VarPrefix+d.Name)
		}
	}
	x.secrets = secret.New(s.agents, s.options.Environ)
	x.holdSecrets(p, rules, first, h)
	x.editor = learning.NewEditor(p.Program, first, executor.Func(x.carryOut))
	return x
}

// holdSecrets gives the session the secrets of its tree. A session that is open has none before.
func (x *Session) holdSecrets(p *Program, rules ir.Rules, first *event.RunStarted, h held) {
	x.secrets.Hold(h.secrets, expr.NewEvaluator(rules, p.Files))
	if h.made == nil {
		x.secrets.Foresee(p.Program, first.Vars)
	}
	x.secrets.HoldMade(h.made)
}

// carryOut carries out an attempt with the secrets of the session.
func (x *Session) carryOut(ctx context.Context, a event.Attempt) event.AttemptFinished {
	if begin := x.service.options.Begin; begin != nil && a.Kind != event.NullAgentAttempt { // that ends at once
		begun := a // which takes memory of its own
		defer begin(&begun)()
	}
	if x.service.options.Traced {
		x.service.addParent(ctx, &a)
	}
	if x.withheld != nil {
		ctx = executor.WithWithheld(ctx, x.withheld)
	}
	return x.secrets.Execute(ctx, a)
}

// finishTree learns from all ended tasks, has the editor word the patterns, and closes the memory.
func (x *Session) finishTree() {
	say := x.service.options.tell
	if ended := x.memory.Learn(); ended != "" && x.editor != nil {
		if m, err := x.memory.Open(ended); err == nil {
			x.editor.Edit(m, ended, say, x.memory.Warn)
		}
	}
	for _, text := range x.memory.Close() {
		say("memory: " + text)
	}
}

// putAside closes a session whose tree is parked, and returns what a later session of the tree needs besides the secrets. The memory
// must be idle.
func (x *Session) putAside() (made []string, pending learning.Pending) {
	pending, warnings := x.memory.Suspend()
	for _, text := range warnings {
		x.service.options.tell("memory: " + text)
	}
	return x.secrets.Made(), pending
}

// Reword words the patterns of a memory by the editor of a program, on behalf of a person, and returns their ids. first and secrets have
// the values that the editor reads.
func (s *Service) Reword(ctx context.Context, m *memory.Memory, p *ir.Program, first *event.RunStarted, secrets map[string]value.Value, o memory.Wording) ([]string, error) {
	h := held{secrets: secrets}
	x := s.newSession(&Program{Program: p}, ir.NewestRules(), first, h)
	s.replaceTree(newTree(x, h))
	defer s.Release(first.Run)
	return x.editor.Reword(ctx, m, o)
}
