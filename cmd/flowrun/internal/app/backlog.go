package app

import "github.com/spf13/cobra"

func (a *app) newBacklogCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "backlog", Short: "List the work in files",
		Long: `A backlog is a file of work: a Markdown file such as TODO.md or ROADMAP.md, or JSONL with an item on each line.

  flowrun backlog list --file TODO.md           a line for each item
  flowrun backlog list --file TODO.md --json    one array, for programs`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newBacklogListCommand())
	return c
}
