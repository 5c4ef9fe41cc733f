package app

import (
	"path/filepath"

	"github.com/spf13/cobra"
)

func (a *app) newDoctorCommand() *cobra.Command {
	asJSON, all := false, false
	c := &cobra.Command{
		Use: "doctor [PATH]", Short: "Check the store, the shells and the programs that runs need",
		Long: `doctor checks everything that runs need: the store and its disk, the clock, the shells, the limits for agents, and the programs that the workflows and agents of a file or folder start. It asks the embedder of the memory for a vector, and the MCP servers of agents for their tools; it starts MCP servers that are programs. It reads the journals of the newest runs (with --all of all runs), and compares them with the other records. Each finding says how to fix the problem. doctor
changes nothing. The exit code is 1 if there is a problem.`,
		Args: between(0, 1, "[PATH]"),
		RunE: func(_ *cobra.Command, words []string) error {
			path := "."
			if len(words) > 0 {
				path = words[0]
			}
			if path == "" {
				return emptyPath()
			}
			return a.runDoctor(filepath.Clean(path), all, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&all, "all", false, "read the journals of all runs, and every page of the store")
	return c
}

// runDoctor examines everything, and shows the findings.
func (a *app) runDoctor(path string, all, asJSON bool) error {
	d := a.newDoctor()
	if all {
		d.Newest = 0
	}
	found := d.Examine(path)
	if a.engine() != "" {
		found = append(found, a.examineFleet()...)
	}
	return a.printFindings(found, asJSON)
}
