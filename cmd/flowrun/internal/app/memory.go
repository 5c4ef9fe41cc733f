package app

import (
	"github.com/spf13/cobra"
)

func (a *app) newMemoryCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "memory", Short: "Read and change what agents learned",
		Long: `The memory holds entries that agents learned or noted; they are searched by words and by meaning, offline. It is the file memory.db
beside the runs. Nothing in it is overwritten: superseded, forgotten and reverted entries are hidden, and memory show prints their history.

  flowrun memory import FILE.jsonl            add entries, a line each
  flowrun memory search "flaky parser test"   find entries about it
  flowrun memory list --agent backend         as this agent sees the memory
  flowrun memory show ID                      one entry and its history`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().StringVar(&a.memoryFile, "file", "",
		"the memory of the program in this `FILE` or folder: the path and the embedder of its memory block")
	c.AddCommand(a.newMemoryAddCommand(), a.newMemoryImportCommand(), a.newMemorySearchCommand(), a.newMemoryListCommand(), a.newMemoryShowCommand(), a.newMemoryPinCommand(), a.newMemoryUnpinCommand(),
		a.newMemoryForgetCommand(), a.newMemorySupersedeCommand(), a.newMemoryRevertCommand(), a.newMemoryPromoteCommand(), a.newMemoryConsolidateCommand(), a.newMemoryStatsCommand(), a.newMemoryDoctorCommand(),
		a.newMemoryExportCommand(), a.newMemoryPathCommand())
	a.onMemoryAway(c)
	return c
}
