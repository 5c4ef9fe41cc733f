package app

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newSyncCheckInCommand() *cobra.Command {
	var r args.SyncCheckIn
	c := &cobra.Command{
		Use: "check-in POINT", Short: "Check in at a sync point as a party", Args: between(1, 1, "POINT"),
		Long: "check-in records that a party is ready at a sync point, or why it is not ready. It replaces an earlier check-in of the party, and does not wait for the others.",
		RunE: func(c *cobra.Command, words []string) error {
			r.Point, r.IsBlocked = words[0], c.Flags().Changed("blocked")
			if err := r.Check(); err != nil {
				return err
			}
			return a.runSyncCheckIn(&r)
		},
	}
	c.Flags().StringVar(&r.As, "as", "", "the `party`")
	c.Flags().StringVar(&r.Blocked, "blocked", "", "the party is not ready, for this `reason`")
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runSyncCheckIn(r *args.SyncCheckIn) error {
	v, err := a.askShared(event.StoreRequest{Sync: &event.SyncRequest{Point: r.Point, As: r.As, Blocked: r.IsBlocked, Reason: r.Blocked}}, makesStore)
	if err != nil {
		return err
	}
	o, _ := v.(map[string]any)
	missing := []string{}
	list, _ := o["missing"].([]any)
	for _, m := range list {
		text, _ := m.(string)
		missing = append(missing, text)
	}
	met := o["met"] == true
	switch {
	case r.JSON:
		return ui.WriteJSON(a.out, struct {
			Point   string   `json:"point"`
			As      string   `json:"as"`
			Met     bool     `json:"met"`
			Missing []string `json:"missing"`
		}{r.Point, r.As, met, missing})
	case met:
		a.out.Printf("all parties of %s are ready\n", ui.Quote(r.Point))
	case len(missing) > 0:
		a.out.Printf("not ready at %s: %s\n", ui.Quote(r.Point), ui.Clean(strings.Join(missing, "; ")))
	default:
		a.out.Printf("no step has said yet which parties %s needs\n", ui.Quote(r.Point))
	}
	return nil
}
