package app

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
)

func (a *app) newDispatchCommand() *cobra.Command {
	var r args.DispatchAdd
	c := &cobra.Command{
		Use: "dispatch [TITLE]", Short: "Hand in work for loops, and list it",
		Long: `dispatch hands in work: a loop with a source "dispatch" takes it before it looks anywhere else. With a title of several words, it is the same as dispatch add.

  flowrun dispatch "Fix the login page" --to leo --label bug --priority 5
  flowrun dispatch add Deploy --needs ds-1
  flowrun dispatch list                 the open work in its order, and who has it
  flowrun dispatch show ds-2            all about one piece of work, with its hand-over
  flowrun dispatch cancel ds-2          cancel the work
  flowrun dispatch claim --as ann       take work yourself, outside of a loop

A step with a handoff block hands in work, too.`,
		Args: func(c *cobra.Command, words []string) error {
			if len(words) == 1 && strings.Contains(words[0], " ") {
				return nil
			}
			return unknownCommand(c, words)
		},
		RunE: func(c *cobra.Command, words []string) error {
			if len(words) == 0 {
				return c.Help()
			}
			r.Title = words[0]
			return a.addWork(&r)
		},
	}
	workFlags(c, &r)
	c.AddCommand(a.newDispatchAddCommand(), a.newDispatchListCommand(), a.newDispatchShowCommand(), a.newDispatchCancelCommand(),
		a.newDispatchClaimCommand(), a.newDispatchRenewCommand(), a.newDispatchReleaseCommand(), a.newDispatchHandOverCommand(), a.newDispatchCloseCommand())
	return c
}
