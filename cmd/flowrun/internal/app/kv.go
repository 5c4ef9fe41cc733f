package app

import "github.com/spf13/cobra"

func (a *app) newKvCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "kv", Short: "Read and change the state that runs share",
		Long: `Steps with a kv block read and write state under keys, which all runs of a store share. These commands do the same from outside.

  flowrun kv set release '{"version": "1.4"}'   a value is JSON; other text is a string
  flowrun kv get release
  flowrun kv list rel                           the keys with this prefix and their values
  flowrun kv delete release
  flowrun kv namespaces                         the namespaces that have keys

A change is one transaction: runs that read or write at the same time see the value before it, or the value after it.`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newKvGetCommand(), a.newKvSetCommand(), a.newKvDeleteCommand(), a.newKvListCommand(), a.newKvNamespacesCommand())
	return c
}
