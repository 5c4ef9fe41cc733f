package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/fleet"
)

// Where the runs are on another engine, the worker that serves the memory carries out the commands of the memory.

// maxAwayInput bounds the input of a command that a worker carries out, and what it prints, in bytes.
const maxAwayInput = 16 << 20

// onMemoryAway gives the commands below c to the worker of the engine, where there is one.
func (a *app) onMemoryAway(c *cobra.Command) {
	for _, sub := range c.Commands() {
		here := sub.RunE
		sub.RunE = func(c *cobra.Command, words []string) error {
			if a.engine() == "" {
				return here(c, words)
			}
			return a.runMemoryAway(c, words)
		}
	}
}

// notSent are the flags of a command that are for this process. Each has a value.
var notSent = []string{"--engine", "--artifacts", "--color", "--env", "--limit"}

func (a *app) runMemoryAway(c *cobra.Command, words []string) error {
	if a.memoryFile != "" {
		return &args.Error{Message: "--file is a program of this machine, and a worker has the memory", Hint: "Leave --file out, or run the command in the workspace of the worker with --engine local."}
	}
	if c.Name() == "path" {
		return &args.Error{Message: "memory path names a file of this machine, and a worker has the memory", Hint: "Run it in the workspace of the worker, with --engine local."}
	}
	if c.Flags().Changed("reword") {
		return &args.Error{Message: "--reword needs a program of this machine, and a worker has the memory", Hint: "Run it in the workspace of the worker, with --engine local."}
	}
	file := ""
	sent := fleet.Command{Person: strings.TrimPrefix(a.person().Author, "user:")}
	reads := slices.Contains(words, stdinName)
	if c.Name() == "import" && !reads {
		f, _, err := a.openInput(context.Background(), words[0])
		if err != nil {
			return err
		}
		defer f.Close()
		a.Stdin, file, reads = f, words[0], true
	}
	if reads {
		var err error
		if sent.Input, err = io.ReadAll(io.LimitReader(a.Stdin, maxAwayInput+1)); err != nil {
			return err
		}
		if len(sent.Input) > maxAwayInput {
			return args.Errorf("the input has more than %d bytes: import it in the workspace of the worker, with --engine local", maxAwayInput)
		}
	}
	sent.Words = a.sentWords(strings.Fields(c.CommandPath())[1:], file)
	ctx, release := process.UntilSignalLooking()
	defer release()
	f, err := a.dialFleet(ctx, false)
	if err != nil {
		return err
	}
	defer f.Close()
	said, err := f.OnMemory(ctx, sent)
	if errors.Is(err, fleet.ErrNoMemory) {
		return fmt.Errorf("%w\nStart one with: flowrun worker --memory%s", err, a.engineHints())
	}
	if err != nil {
		return memoryEnded(ctx, err)
	}
	_, err = a.Stdout.Write(said.Out)
	_, err2 := a.Stderr.Write(said.Err)
	if err = errors.Join(err, err2); err == nil && said.Code != 0 {
		return &ended{said.Code}
	}
	return err
}

// sentWords are the words of the command line that are sent to a worker: without the flags that are for this process. file, if it is not "", is
// the word in whose place the worker reads its standard input.
func (a *app) sentWords(path []string, file string) []string {
	words := slices.Clone(path)
	for i, n := 0, 0; i < len(a.arguments); i++ {
		w := a.arguments[i]
		name, _, whole := strings.Cut(w, "=")
		switch {
		case w == "--":
			return append(words, a.arguments[i:]...)
		case slices.Contains(notSent, name):
			if !whole {
				i++
			}
		case n < len(path) && w == path[n]:
			n++
		case w == file:
			words, file = append(words, stdinName), ""
		default:
			words = append(words, w)
		}
	}
	return words
}

// carryOutMemory carries out a command on the memory in a store for a person elsewhere. A process of its own does it, so that the worker lives if
// it does not.
func (a *app) carryOutMemory(ctx context.Context, store string, sent fleet.Command) (said fleet.Said) {
	refused := func(why string) fleet.Said {
		return fleet.Said{Err: []byte("flowrun: " + why + "\n"), Code: exitUsage}
	}
	if len(sent.Words) < 2 || sent.Words[0] != "memory" {
		return refused("a worker carries out only the commands of the memory")
	}
	words := process.Self(append([]string{sent.Words[0], sent.Words[1], "--engine", localEngine, "--store", store, "--color", "never"}, sent.Words[2:]...)...)
	if words == nil {
		return refused("the worker does not find its own binary")
	}
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Args[0] = "flowrun" // for those who list processes
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(sent.Input), &bounded{Buffer: &out}, &bounded{Buffer: &errs}
	c.Env = append(slices.Clone(a.Environ), "USER="+sent.Person, "FLOWRUN_ENV=")
	if err := c.Run(); err != nil && c.ProcessState == nil {
		return refused(err.Error())
	}
	if out.Len() > maxAwayInput {
		return refused("the output of the command is too long: run it in the workspace of the worker, with --engine local")
	}
	return fleet.Said{Out: out.Bytes(), Err: errs.Bytes(), Code: max(c.ProcessState.ExitCode(), 0)}
}

// bounded keeps the beginning of what is written.
type bounded struct{ *bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxAwayInput + 1 - b.Len(); room < len(p) {
		b.Buffer.Write(p[:max(room, 0)])
	} else {
		b.Buffer.Write(p)
	}
	return len(p), nil
}

// examineFleetMemory says who serves the memory of an engine.
func (a *app) examineFleetMemory(ctx context.Context, f *fleet.Fleet) (out []ui.Finding) {
	start := "Start one with: flowrun worker --memory" + a.engineHints()
	names, unlearned, err := f.MemoryWorkers(ctx)
	switch {
	case err != nil:
		return []ui.Finding{{Name: "memory", Level: ui.Wrong, Text: err.Error(), Fix: "Ask the operator of the server whether this account may describe task queues and count workflows."}}
	case len(names) == 0 && unlearned > 0:
		return []ui.Finding{{Name: "memory", Level: ui.Odd, Text: "no worker serves the memory, which has not learned yet from " + ui.Count(int(unlearned), "run"), Fix: start}}
	case len(names) == 0:
		return nil // most programs need none
	}
	text := ui.Count(len(names), "worker") + " with the memory: " + ui.Clean(strings.Join(names, ", "))
	if unlearned > 0 {
		text += "; " + ui.Count(int(unlearned), "run") + " to learn from"
	}
	return []ui.Finding{{Name: "memory", Level: ui.Fine, Text: text}}
}
