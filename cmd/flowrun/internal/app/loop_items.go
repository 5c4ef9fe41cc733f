package app

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLoopItemsCommand() *cobra.Command {
	var o args.LoopItems
	c := &cobra.Command{
		Use: "items [NAME]", Short: "List the items that agents of loops work on", Args: between(0, 1, "[NAME]"),
		Long: "items prints a line for each item that an agent of a loop has: its state, the agent, its run, and since when. With --all it also prints items that are done, free again or given up. It also prints the git worktrees of a loop with worktree = true, and why a worktree is kept after its run has ended.",
		RunE: func(_ *cobra.Command, words []string) error {
			if len(words) > 0 {
				o.Name = words[0]
			}
			return a.runLoopItems(&o)
		},
	}
	c.Flags().BoolVar(&o.All, "all", false, "also items without an agent")
	c.Flags().BoolVar(&o.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runLoopItems(o *args.LoopItems) error {
	claims, err := a.loopClaims(o.Name)
	if err != nil {
		return err
	}
	rows := []value.Value{}
	store, err := a.storeDir("")
	if err != nil {
		return err
	}
	trees := serve.Worktrees(store, o.Name)
	serve.LookAgain(context.Background(), store, trees)
	for i := range claims {
		c := &claims[i]
		if !o.All && c.State != event.ClaimHeld && c.State != event.ClaimParked {
			continue
		}
		if o.JSON {
			rows = append(rows, makeLoopItemsRow(c, trees))
			continue
		}
		rows = append(rows, nil)
		about := ""
		if c.Run != "" {
			about += "  run " + c.Run
		}
		if c.Failures > 0 {
			about += fmt.Sprintf("  failed %d times", c.Failures)
		}
		if c.Lost > 0 {
			about += fmt.Sprintf("  lost %d times", c.Lost)
		}
		a.out.Printf("%s  %s  %s, since %s%s  %s\n", ui.Clean(c.Item), c.State, ui.Clean(c.Who()), ui.Duration(time.Since(c.Since.Go())), ui.Clean(about), ui.Clean(c.Title))
	}
	if o.JSON {
		return ui.WriteJSON(a.out, rows)
	}
	for i := range trees {
		a.out.Printf("%s\n", ui.Clean(trees[i].Words()))
	}
	if len(rows)+len(trees) == 0 {
		a.err.Printf("No agent of a loop works on an item.\n")
	}
	return nil
}

// makeLoopItemsRow gives a claim with the folder and the branch of the worktree in which its run works; null if it has none.
func makeLoopItemsRow(c *event.Claim, trees []serve.LoopWorktree) map[string]any {
	o := c.Object()
	o["worktree"], o["branch"] = nil, nil
	for i := range trees {
		if t := &trees[i]; c.Run != "" && t.Run == c.Run {
			o["worktree"], o["branch"] = t.Root, t.Branch
		}
	}
	return o
}
