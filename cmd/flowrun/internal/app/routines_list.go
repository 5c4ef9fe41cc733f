package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
)

func (a *app) newRoutinesListCommand() *cobra.Command {
	var r args.RoutinesList
	c := &cobra.Command{
		Use: "list", Short: "List the routines of the store", Args: between(0, 0, ""),
		Long: "list prints each registered routine in the order of the names: its workflow and program, when its next run starts, how many runs it has started, how many were missed, and the last run. With --next, each routine is followed by its next times.",
		RunE: func(*cobra.Command, []string) error {
			if err := r.Check(); err != nil {
				return err
			}
			return a.runRoutinesList(&r)
		},
	}
	c.Flags().IntVar(&r.Next, "next", 0, "the next `N` times of each routine")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runRoutinesList(r *args.RoutinesList) error {
	routines, err := a.registeredRoutines()
	if err != nil {
		return err
	}
	list := []serve.Routine{}
	for i := range routines {
		l, err := serve.DescribeRoutine(&routines[i], r.Next)
		if err != nil {
			return err
		}
		list = append(list, l)
	}
	if r.JSON {
		return ui.WriteJSON(a.out, serve.Routines{Routines: list})
	}
	if len(list) == 0 {
		a.err.Printf("No program in this store has a routine.\n")
	}
	for i, l := range list {
		a.out.Printf("%s → %s  %s\n", ui.Clean(l.Name), ui.Clean(l.Workflow), ui.Clean(l.Program))
		switch {
		case l.Paused && routines[i].InFile:
			a.out.Printf("  paused by its program\n")
		case l.Paused:
			a.out.Printf("  paused\n")
		case l.Next == nil:
			a.out.Printf("  no next moment\n")
		default:
			a.out.Printf("  next run %s\n", *l.Next)
		}
		a.out.Printf("  %d started, %d missed\n", l.Started, l.Missed)
		if last := routines[i].Last; last != nil && last.Run != "" {
			a.out.Printf("  last run %s of %s\n", ui.Clean(last.Run), last.ScheduledAt)
		} else if last != nil {
			a.out.Printf("  no run of %s: %s\n", last.ScheduledAt, ui.Clean(last.Why))
		}
		for _, m := range l.Moments {
			a.out.Printf("  %s\n", m)
		}
	}
	return nil
}
