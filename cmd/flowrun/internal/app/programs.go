package app

import "github.com/spf13/cobra"

func (a *app) newProgramsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "programs", Short: "List and remove the programs that start runs by themselves",
		Long: `flowrun apply registers a program that has blocks on, so that events start its runs. The store keeps the program as it was then, with the
variables of that call, until it is applied again or removed.

  flowrun programs list                 each registered program, and what starts its runs
  flowrun programs remove deploy.hcl    from now on nothing starts a run of this program by itself`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newProgramsListCommand(), a.newProgramsRemoveCommand())
	return c
}
