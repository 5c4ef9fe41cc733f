package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
)

func (a *app) newProgramsRemoveCommand() *cobra.Command {
	var r args.ProgramsRemove
	c := &cobra.Command{
		Use: "remove FILE|DIR", Short: "Stop events, routines and loops from starting runs of a program", Args: between(1, 1, "FILE|DIR"),
		Long: `remove removes a program from the list of registered programs. Give the path with which the program was applied; the file can be gone. Events that wait to start a run of the program are dropped. Runs that have started continue. flowrun apply registers the program again.`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Program = words[0]
			return a.runProgramsRemove(&r)
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runProgramsRemove(r *args.ProgramsRemove) error {
	path, err := filepath.Abs(r.Program)
	if err != nil {
		return err
	}
	dir, err := a.storeDir("")
	if err != nil {
		return err
	}
	unknown := &args.Error{Message: fmt.Sprintf("%s is not a registered program", ui.Clean(path)), Hint: "See flowrun programs list."}
	s, err := a.openExisting(dir, &args.Drive{MakeDo: true})
	if errors.Is(err, engine.ErrNoStore) {
		return unknown
	}
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.Registered(context.Background())
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(p runner.Registered) bool { return p.Path == path })
	if at < 0 {
		return unknown
	}
	c, err := s.Unregister(context.Background(), path)
	if err != nil {
		return err
	}
	if r.JSON {
		return ui.WriteJSON(a.out, map[string]any{"program": path, "removed": c.Removed})
	}
	for _, words := range c.Removed {
		a.out.Printf("removed: %s\n", ui.Clean(words))
	}
	return nil
}
