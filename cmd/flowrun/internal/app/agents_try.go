package app

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/standalone"
)

// agentsTryTask is the task of a call that tries an agent.
const agentsTryTask = "Say hello in one short sentence. Change no files and run no commands."

func (a *app) newAgentsTryCommand() *cobra.Command {
	o := args.Trial{Task: agentsTryTask}
	c := &cobra.Command{
		Use: "test NAME [FILE|DIR]", Short: "Call an agent once, and show the messages", Args: between(1, 2, "NAME"),
		Long: `test calls the agent NAME of a program once, outside of any run, with a short task unless you give one. It prints the request and the reply line by line, without secrets, and then the output that a step would get, the usage and the time. The call is real: a program starts, and a call to a paid model costs money. Nothing is recorded, and limits, quotas and the memory of the agent do not apply. The exit code is 1 if the agent fails, or if its output is not of its type.

  flowrun agents test writer --task "Which model are you?" --var key=...`,
		RunE: func(_ *cobra.Command, words []string) error {
			o.Name, o.Path = words[0], "."
			if len(words) > 1 {
				o.Path = words[1]
			}
			return a.runAgentsTry(&o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Task, "task", o.Task, "the `text` of the task")
	f.StringVar(&o.With, "with", "", "the value of with, as `JSON`")
	f.DurationVar(&o.Timeout, "timeout", time.Minute, "the maximum time of the call; the agent's own timeout also applies")
	variableFlags(c, &o.Given)
	jsonFlag(c, &o.JSON)
	return c
}

func (a *app) runAgentsTry(o *args.Trial) error {
	a.asJSON = o.JSON
	if err := o.Check(); err != nil {
		return err
	}
	p, err := a.loadProgram(o.Path)
	if err != nil {
		return err
	}
	var agent *ir.Agent
	for i := range p.ir.Agents {
		if p.ir.Agents[i].Name == o.Name {
			agent = &p.ir.Agents[i]
		}
	}
	switch {
	case agent == nil:
		return a.noAgent(p, o.Name)
	case agent.Type == ir.AgentHuman:
		return &args.Error{Message: fmt.Sprintf("the agent %s is a person", ui.Quote(o.Name)), Hint: "Give the person a task in a run; flowrun inbox lists it."}
	}
	trial := runner.Trial{Agent: o.Name, Task: o.Task}
	if o.With != "" {
		if trial.With, err = valueOf("--with", o.With); err != nil {
			return err
		}
	}
	first, held, err := a.newFirstEvent(p, &ir.Workflow{Name: runner.TrialStep}, &args.Apply{Given: o.Given})
	if err != nil {
		return err
	}
	dir, err := a.storeDir(o.Path)
	if err != nil {
		return err
	}
	service, closeService := standalone.Carry(dir, a.carryOptions())
	defer closeService()
	first.Run = "by-hand"
	ctx, release := process.UntilSignal(func(string) {})
	defer release()
	ctx, done := context.WithTimeout(ctx, o.Timeout)
	defer done()
	view := &ui.Trial{Out: a.out, JSON: o.JSON}
	trial.Wire = view.Line
	began := time.Now()
	ans, err := service.Try(ctx, p.ir, &first, held, trial)
	if err != nil {
		return err
	}
	if err := view.End(&ans, time.Since(began)); err != nil {
		return err
	}
	if ans.Outcome != event.OK {
		return &ended{exitNo}
	}
	return nil
}
