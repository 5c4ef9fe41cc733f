package app

import "github.com/spf13/cobra"

func (a *app) newDlqCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "dlq", Short: "Look at dead letters: failed runs and messages that could not be sent",
		Long: `A dead letter is something that flowrun gave up: a run that failed, or a message that could not be sent. A run that another run called
has none; its caller has.

  flowrun dlq list              all of them, the oldest first
  flowrun dlq show dl-3         what failed, with which inputs, how often, and who redrove it
  flowrun dlq redrive dl-3      retry the run, or send the message again; success closes the entry
  flowrun dlq drop dl-3         remove the entry`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newDlqListCommand(), a.newDlqShowCommand(), a.newDlqRedriveCommand(), a.newDlqDropCommand())
	return c
}
