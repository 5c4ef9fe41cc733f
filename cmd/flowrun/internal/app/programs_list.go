package app

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newProgramsListCommand() *cobra.Command {
	var r args.ProgramsList
	c := &cobra.Command{
		Use: "list", Short: "List the registered programs", Args: between(0, 0, ""),
		Long: `list prints each registered program and its triggers. For each "on" block it prints how many events wait for a process, started a run, were skipped by the condition, or are dead letters, and how many deliveries to a webhook were refused. For each routine it prints the time of its next run. It also lists the loops that the daemon keeps running.`,
		RunE: func(*cobra.Command, []string) error { return a.runProgramsList(&r) },
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runProgramsList(r *args.ProgramsList) error {
	v, err := a.askShared(event.StoreRequest{Programs: true}, readsStore)
	if err != nil {
		return err
	}
	if r.JSON {
		return ui.WriteJSON(a.out, struct {
			Programs value.Value `json:"programs"`
		}{v})
	}
	var list []runner.Registered
	if err := json.Unmarshal(value.Append(nil, v), &list); err != nil {
		return fmt.Errorf("reading the registered programs: %w", err)
	}
	if len(list) == 0 {
		a.err.Printf("No program in this store starts runs automatically.\n")
	}
	for i := range list {
		p := &list[i]
		a.out.Printf("%s  since %s, definition %.12s\n", ui.Clean(p.Path), p.At, p.Definition)
		for k := range p.On {
			a.out.Printf("  %s\n", describeProgramsList(&p.On[k]))
		}
		for _, r := range p.Routines {
			next := cmp.Or(r.Next, "none")
			if r.Paused {
				next = "paused"
			}
			a.out.Printf("  routine %s → %s  next %s, %d started, %d missed\n", ui.Clean(r.Name), ui.Clean(r.Workflow), next, r.Started, r.Missed)
		}
		for _, l := range p.Loops {
			a.out.Printf("  loop %s  since %s\n", ui.Clean(l.Name), l.Since)
		}
	}
	return nil
}

// describeProgramsList is a subscription in a line.
func describeProgramsList(s *runner.Subscription) string {
	text := fmt.Sprintf("on %s → %s  %d waiting, %d started, %d skipped, %d dead", ui.Clean(s.Event), ui.Clean(s.Workflow), s.Waiting, s.Started, s.Skipped, s.Dead)
	if s.Refused > 0 {
		text += fmt.Sprintf(", %d refused", s.Refused)
	}
	if s.Last != nil {
		text += fmt.Sprintf("  last %s by %s at %s", ui.Clean(s.Last.Run), ui.Clean(s.Last.Event), s.Last.At)
	}
	return text
}
