package app

import (
	"github.com/spf13/cobra"
)

func (a *app) newMemoryCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "memory", Short: "Look at what was learned, and change it",
		Long: `The memory holds what agents learned and noted: entries that are searched by words and by meaning, offline. It lies beside the runs,
in memory.db. Nothing in it is overwritten: what is superseded, forgotten or reverted is hidden, and memory show tells its history.

  flowrun memory import FILE.jsonl            add entries, a line each
  flowrun memory search "flaky parser test"   find what was learned about it
  flowrun memory list --agent backend         as this agent sees the memory
  flowrun memory show ID                      one entry, and where it comes from`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().StringVar(&a.memoryFile, "file", "",
		"the memory of the program in this `FILE` or folder, as its memory block has it: where it lies, and its embedder")
	c.AddCommand(a.newMemoryAddCommand(), a.newMemoryImportCommand(), a.newMemorySearchCommand(), a.newMemoryListCommand(), a.newMemoryShowCommand(), a.newMemoryPinCommand(), a.newMemoryUnpinCommand(),
		a.newMemoryForgetCommand(), a.newMemorySupersedeCommand(), a.newMemoryRevertCommand(), a.newMemoryPromoteCommand(), a.newMemoryConsolidateCommand(), a.newMemoryStatsCommand(), a.newMemoryDoctorCommand(),
		a.newMemoryExportCommand(), a.newMemoryPathCommand())
	return c
}
