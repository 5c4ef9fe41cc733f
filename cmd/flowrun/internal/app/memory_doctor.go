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
		Use: "doctor", Short: "Check the memory for damage",
		Long: `doctor reads the whole memory, and reports the damage, the ids of entries that earlier damage destroyed, and how to fix it. flowrun
doctor includes the same checks. With --rebuild, doctor first writes a new file with all readable entries, and keeps the old file
beside it. The exit code is 1 if there is a problem.`,
		Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			return a.runMemoryDoctor(rebuild, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&rebuild, "rebuild", false, "first write a new file with all readable entries")
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
