package app

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDlqShowCommand() *cobra.Command {
	var r args.DlqShow
	c := &cobra.Command{
		Use: "show ID", Short: "Show a dead letter", Args: between(1, 1, "ID"),
		Long: "show prints what failed, with which inputs, how often, and who redrove it.",
		RunE: func(_ *cobra.Command, words []string) error {
			r.ID = words[0]
			return a.runDlqShow(&r)
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runDlqShow(r *args.DlqShow) error {
	v, err := a.askShared(event.StoreRequest{Dead: &event.DeadRequest{ID: r.ID}}, readsStore)
	if err != nil {
		return err
	}
	var d deadLetter
	if err := readDead(v, &d); err != nil {
		return err
	}
	var inputs value.Value
	if d.Run != "" {
		if inputs, err = a.readDlqShowInputs(d.Run); err != nil {
			return err
		}
	}
	if r.JSON {
		o, _ := v.(map[string]any)
		o["inputs"] = inputs
		return ui.WriteJSON(a.out, o)
	}
	a.out.Printf("%s\n  first %s, last %s\n", d.words(), d.At, d.Last)
	if d.Error.Kind != "" {
		a.out.Printf("  error: %s, %s\n", ui.Clean(d.Error.Kind), ui.Clean(d.Error.Reason))
	}
	if d.Event != nil {
		o, _ := v.(map[string]any)["event"].(map[string]any)
		a.out.Printf("  event of program %s: %s\n", ui.Clean(*d.Program), ui.Clean(value.Text(o["data"])))
	}
	if d.Routine != nil {
		a.out.Printf("  moments of program %s: %s\n", ui.Clean(*d.Program), strings.Join(d.Routine.Moments, ", "))
	}
	if m := d.Message; m != nil {
		a.out.Printf("  message: %s: %s\n", ui.Clean(m.Title), ui.CleanLines(m.Text))
	}
	if o, is := inputs.(map[string]any); is {
		for _, name := range value.Keys(o) {
			a.out.Printf("  input %s = %s\n", ui.Clean(name), ui.Clean(value.Text(o[name])))
		}
	}
	for _, one := range d.Redrives {
		a.out.Printf("  redriven by %s at %s\n", ui.Clean(one.By), one.At)
	}
	a.out.Printf("  again: flowrun dlq redrive %s\n", d.ID)
	return nil
}

// readDlqShowInputs are the inputs of a run that are not sensitive; null if the run was removed.
func (a *app) readDlqShowInputs(run string) (value.Value, error) {
	if run == "" {
		return nil, nil
	}
	dir, err := a.storeDir("")
	if err != nil {
		return nil, err
	}
	s, err := a.openExisting(dir, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	first, err := s.Started(context.Background(), run)
	if errors.Is(err, engine.ErrNoRun) {
		return nil, nil
	}
	inputs := map[string]any{}
	for name, v := range first.Inputs { // any order: it copies a map
		inputs[name] = v
	}
	return inputs, err
}
