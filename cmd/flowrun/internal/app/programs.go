package app

import "github.com/spf13/cobra"

func (a *app) newProgramsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "programs", Short: "List and remove the programs that start runs automatically",
		Long: `flowrun apply registers a program with "on" blocks, so that events start its runs. The store keeps that version of the program, with the variables of that call, until the program is applied again or removed.

  flowrun programs list                 each registered program, with its triggers
  flowrun programs remove deploy.hcl    from now on, no event or routine starts a run of this program`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newProgramsListCommand(), a.newProgramsRemoveCommand())
	return c
}
