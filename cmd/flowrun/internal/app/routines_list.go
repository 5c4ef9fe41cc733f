package app

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
)

func (a *app) newRoutinesListCommand() *cobra.Command {
	var r args.RoutinesList
	c := &cobra.Command{
		Use: "list", Short: "List the routines of the store", Args: between(0, 0, ""),
		Long: "list prints each registered routine in the order of the names: its workflow and program, when its next run starts, how many moments have started a run, how many were missed, and the last run. With --next each is followed by its next moments.",
		RunE: func(*cobra.Command, []string) error {
			if err := r.Check(); err != nil {
				return err
			}
			return a.runRoutinesList(&r)
		},
	}
	c.Flags().IntVar(&r.Next, "next", 0, "the next `N` moments of each routine")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

// listedRoutine is a routine as routines list prints it. What does not apply is null.
type listedRoutine struct {
	Name     string   `json:"name"`
	Workflow string   `json:"workflow"`
	Program  string   `json:"program"`
	Cron     *string  `json:"cron"`
	Every    *string  `json:"every"`
	Timezone string   `json:"timezone"`
	Paused   bool     `json:"paused"`
	Next     *string  `json:"next"`
	Moments  []string `json:"moments"`
	Waiting  int      `json:"waiting"`
	Started  int      `json:"started"`
	Missed   int      `json:"missed"`
	Last     any      `json:"last"`
}

func (a *app) runRoutinesList(r *args.RoutinesList) error {
	routines, err := a.registeredRoutines()
	if err != nil {
		return err
	}
	list := []listedRoutine{}
	for i := range routines {
		l, err := describeRoutinesList(&routines[i], r.Next)
		if err != nil {
			return err
		}
		list = append(list, l)
	}
	if r.JSON {
		return ui.WriteJSON(a.out, struct {
			Routines []listedRoutine `json:"routines"`
		}{list})
	}
	if len(list) == 0 {
		a.err.Printf("No program of this store has a routine.\n")
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

func describeRoutinesList(r *runner.Routine, moments int) (listedRoutine, error) {
	s, spec, err := routineSchedule(r)
	if err != nil {
		return listedRoutine{}, err
	}
	l := listedRoutine{Name: r.Name, Workflow: r.Workflow, Program: r.Program, Timezone: s.Zone().String(), Paused: r.Paused, Moments: nextMoments(s, time.Now(), moments),
		Waiting: r.Waiting, Started: r.Started, Missed: r.Missed, Last: r.Last}
	if spec.Cron != "" {
		l.Cron = &spec.Cron
	}
	if spec.Every != 0 {
		text := spec.Every.String()
		l.Every = &text
	}
	if at, err := time.Parse(time.RFC3339, r.Next); err == nil {
		text := at.In(s.Zone()).Format(time.RFC3339Nano)
		l.Next = &text
	}
	if r.Last == nil {
		l.Last = nil
	}
	return l, nil
}
