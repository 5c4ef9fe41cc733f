package app

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/doctor"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryImportCommand() *cobra.Command {
	var e args.Embedder
	asJSON := false
	c := &cobra.Command{
		Use: "import FILE", Short: "Add entries from a file of JSON lines", Args: between(1, 1, "FILE"),
		Long: `import adds entries from a file, or from standard input (-), one JSON object on each line:

  {"id":"D1:3","text":"…","created_at":"2023-05-08T13:56:00Z","importance":0.5}

"id" and "text" are required; instead of "text" a line can have "context", "observation" and "lesson". Optional fields are "agent"
(only this agent sees the entry; by default all agents do), "type", "tags" and "session"; entries of a session keep the order of
the file. Ids are kept. Importing the same line again changes nothing, so you can repeat an import that was stopped: entries that it
reported as kept are kept.`,
		RunE: func(_ *cobra.Command, words []string) error {
			if err := e.Check(); err != nil {
				return err
			}
			return a.runMemoryImport(words[0], &e, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	embedderFlags(c, &e)
	return c
}

// runMemoryImport reads a file into the memory, and creates the memory if there is none.
func (a *app) runMemoryImport(file string, e *args.Embedder, asJSON bool) error {
	ctx, release := process.UntilSignalLooking()
	defer release()
	in, size, err := a.openInput(ctx, file)
	if err != nil {
		return err
	}
	defer in.Close()
	m, dir, err := a.openMemory(toMake, e)
	if err != nil {
		return err
	}
	bar := ui.NewBar(a.err, "line", size, present())
	kept, err := m.Import(ctx, in, memory.ImportOptions{Name: inputName(file), By: a.person(),
		Progress: func(done int, bytes int64) { bar.Set(done, bytes, present()) }})
	bar.Close()
	err = errors.Join(err, m.Close())
	done := ui.ImportedMemory{Lines: kept.Lines, Added: kept.Added, Known: kept.Known}
	if err != nil {
		done.Error = plainMessage(err)
	}
	ui.Imported(a.out, done, disk.Short(dir), asJSON)
	return a.memoryImportEnded(ctx, err)
}

// memoryImportEnded prints advice about an import that did not finish, and returns the verdict.
func (a *app) memoryImportEnded(ctx context.Context, err error) error {
	var stop *process.Interrupted
	var line *memory.LineError
	switch {
	case err == nil:
		return nil
	case errors.As(context.Cause(ctx), &stop):
		a.err.Printf("flowrun: stopped; the same command continues\n")
		return &ended{process.SignalCode(stop.Signal)}
	case errors.As(err, &line):
		a.err.Printf("flowrun: %s\nThe lines before it are kept. Fix it and import the file again: lines that are there already are skipped.\n", ui.Clean(plainMessage(line)))
		return &ended{exitNo}
	}
	a.err.Printf("flowrun: %s\n", ui.CleanLines(plainMessage(doctor.WayOut(err))))
	return &ended{exitCouldNot}
}
