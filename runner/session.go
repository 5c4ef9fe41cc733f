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

// Session is a tree of runs in this process: a run, and the runs that it calls. It holds the state of such a tree that no
// journal has: secrets, masks, an evaluator, a memory, and an editor for the learnings. Two trees share none of it.
type Session struct {
	service *Service
	secrets *secret.Executor
	memory  *learning.Binding
	editor  *learning.Editor // nil where the program names none
	// withheld are the variables of the environment that may hold a secret of the tree.
	withheld []string

	root string          // the first run of the tree
	runs map[string]bool // the tree; guarded by the service
}

// newSession makes the session of a tree of runs, which have the same rules.
func (s *Service) newSession(p *Program, rules ir.Rules, first *event.RunStarted, secrets map[string]value.Value) *Session {
	x := &Session{service: s, memory: s.library.Bind(p.Program, first.Dir), root: first.Run, runs: map[string]bool{}}
	for _, d := range p.Variables {
		if d.Sensitive {
			x.withheld = append(x.withheld, given.VarPrefix+d.Name)
		}
	}
	x.secrets = secret.New(s.agents, s.options.Environ)
	x.secrets.Hold(secrets, expr.NewEvaluator(rules, p.Files))
	x.secrets.Foresee(p.Program, first.Vars)
	x.editor = learning.NewEditor(p.Program, first, executor.Func(x.carryOut))
	return x
}

// carryOut carries out an attempt with the secrets of the session.
func (x *Session) carryOut(ctx context.Context, a event.Attempt) event.AttemptFinished {
	if begin := x.service.options.Begin; begin != nil {
		defer begin(&a)()
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

// Reword words the patterns of a memory by the editor of a program, on behalf of a person, and returns their ids. first and secrets have
// the values that the editor reads.
func (s *Service) Reword(ctx context.Context, m *memory.Memory, p *ir.Program, first *event.RunStarted, secrets map[string]value.Value, o memory.Wording) ([]string, error) {
	x := s.newSession(&Program{Program: p}, ir.NewestRules(), first, secrets)
	s.joinTree(first.Run, x)
	defer s.Release(first.Run)
	return x.editor.Reword(ctx, m, o)
}
