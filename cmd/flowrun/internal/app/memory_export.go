package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/memory"
)

func (a *app) newMemoryExportCommand() *cobra.Command {
	var r args.MemoryList
	c := &cobra.Command{
		Use: "export", Short: "Write entries as JSON lines, as import reads them", Args: between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := refuseEmpty(c, "run", "author"); err != nil {
				return err
			}
			if err := r.Check(present()); err != nil {
				return err
			}
			return a.onMemory(toRead, nil, func(ctx context.Context, m *memory.Memory) error {
				f, err := a.memoryFilter(ctx, m, &r)
				if err != nil {
					return err
				}
				return m.Export(ctx, a.out, f)
			})
		},
	}
	originFlags(c, &r)
	whichFlags(c, &r.Which)
	return c
}
