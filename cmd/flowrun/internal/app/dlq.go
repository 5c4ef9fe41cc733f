package app

import "github.com/spf13/cobra"

func (a *app) newDlqCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "dlq", Short: "List and redrive dead letters: failed runs, messages that could not be sent, items that failed",
		Long: `A dead letter is a failed run, a message that could not be sent, or an item of a loop that failed or was lost with its process twice. A called run has no dead letter of its own; its caller has one.

  flowrun dlq list              all dead letters, the oldest first
  flowrun dlq show dl-3         what failed, with which inputs, how often, and who redrove it
  flowrun dlq redrive dl-3      retry the run, send the message again, or let loops take the item again; after a success the dead letter is closed
  flowrun dlq drop dl-3         remove the entry`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newDlqListCommand(), a.newDlqShowCommand(), a.newDlqRedriveCommand(), a.newDlqDropCommand())
	return c
}
