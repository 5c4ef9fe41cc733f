package app

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	memories "github.com/flowrun/flowrun/memory/store"
)

func (a *app) newMemoryDoctorCommand() *cobra.Command {
	asJSON, rebuild := false, false
	c := &cobra.Command{
		Use: "doctor", Short: "Look whether the memory is whole",
		Long: `doctor reads the whole memory and tells what is damaged, what was lost to earlier damage, by id, and what mends it. flowrun doctor does
the same beside all else. With --rebuild it first makes the file anew of all that can be read of it, and keeps the old one beside it. The
exit code is 1 if something is wrong.`,
		Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			return a.runMemoryDoctor(rebuild, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&rebuild, "rebuild", false, "first make the file anew of all that can be read of it")
	return c
}

// runMemoryDoctor examines the memory, and rebuilds its file before if that is wanted.
func (a *app) runMemoryDoctor(rebuild, asJSON bool) error {
	dir, _, err := a.memoryPlace()
	if err != nil {
		return err
	}
	if !memories.Exists(dir) {
		return noMemory(dir)
	}
	if rebuild {
		s, err := memories.Open(dir, memories.Options{})
		if err != nil {
			return err
		}
		if err := errors.Join(s.Rebuild(context.Background()), s.Close()); err != nil {
			return err
		}
	}
	return a.printFindings(a.newDoctor().ExamineMemory(dir), asJSON)
}
