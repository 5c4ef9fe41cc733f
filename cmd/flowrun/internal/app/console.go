package app

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
)

// MaxConsoleLine bounds a line that console reads, in bytes.
const MaxConsoleLine = 64 << 10

func (a *app) newConsoleCommand() *cobra.Command {
	conditions := false
	c := &cobra.Command{
		Use: "console RUN [EXPRESSION...]", Short: "Evaluate values and conditions against a run", Args: between(1, 1000, "RUN [EXPRESSION...]"),
		Long: `console evaluates expressions with the names of a run: var, local, input, run, and step.NAME with its output, its status and its
other attributes. An expression is a value of the language; with --condition, or behind the word "when", it is a condition. console
prints each result as JSON on a line. Without expressions it reads them from standard input, one on each line. It does not change the run.`,
		RunE: func(_ *cobra.Command, words []string) error {
			k, err := a.openConsole(words[0])
			if err != nil {
				return err
			}
			k.conditions = conditions
			if len(words) == 1 {
				return k.read()
			}
			for _, text := range words[1:] {
				k.line(text)
			}
			return k.verdict()
		},
	}
	c.Flags().BoolVar(&conditions, "condition", false, "expressions are conditions, not values")
	return c
}

// console is a run to ask, and the number of questions without an answer.
type console struct {
	a          *app
	evaluator  *expr.Evaluator
	scope      ir.Scope
	env        *expr.Env
	conditions bool
	failed     int
}

// openConsole replays a run and collects the names that expressions can read.
func (a *app) openConsole(word string) (k *console, err error) {
	err = a.withRun(word, nil, func(s *store, info engine.Info) error {
		p, err := s.History(context.Background(), info.Run)
		if err != nil {
			return err
		}
		k = &console{a: a, evaluator: expr.NewEvaluator(ir.RulesOf(p.Header.Behaviour), p.Program.Files), scope: p.Names(), env: dsl.NamesOfRun(p.Program.Program, p.Workflow)}
		return nil
	})
	return k, err
}

// read answers the expressions of standard input, one per line.
func (k *console) read() error {
	lines := bufio.NewScanner(k.a.Stdin)
	lines.Buffer(nil, MaxConsoleLine)
	for k.prompt(); lines.Scan(); k.prompt() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			k.line(text)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	return k.verdict()
}

func (k *console) prompt() {
	if k.a.err.Live {
		k.a.err.Printf("> ")
	}
}

func (k *console) verdict() error {
	if k.failed > 0 {
		return &ended{exitNo}
	}
	return nil
}

// line answers one question: its value as JSON, or why it has none.
func (k *console) line(text string) {
	conditions := k.conditions
	if rest, ok := strings.CutPrefix(text, "when "); ok {
		text, conditions = rest, true
	}
	e, found := dsl.Ask(consoleFile, text, conditions, k.env)
	ui.Diagnostics(k.a.err, found, ui.Sources{consoleFile: []byte(text)})
	if e == nil {
		k.failed++
		return
	}
	v, err := k.evaluator.Eval(e, k.scope)
	if err != nil {
		k.a.err.Printf("It has no value: %s\n", ui.CleanLines(err.Error()))
		k.failed++
		return
	}
	_ = ui.WriteJSON(k.a.out, v)
}

// consoleFile is the file name of an expression in messages.
const consoleFile = "expression"
