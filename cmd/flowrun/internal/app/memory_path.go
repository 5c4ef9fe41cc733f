package app

import (
	"github.com/spf13/cobra"

	memories "github.com/flowrun/flowrun/memory/store"
)

func (a *app) newMemoryPathCommand() *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print the path of the memory file", Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			dir, _, err := a.memoryPlace()
			if err == nil {
				a.out.Printf("%s\n", memories.Path(dir))
			}
			return err
		},
	}
}
