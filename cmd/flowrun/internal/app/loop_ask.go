package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// loop picks a loop of a program.
func (p *program) loop(name string) (*ir.Loop, error) {
	if l := p.ir.Loop(name); l != nil {
		return l, nil
	}
	var names []string
	for i := range p.ir.Loops {
		names = append(names, p.ir.Loops[i].Name)
	}
	sort.Strings(names)
	if len(names) == 0 {
		return nil, &args.Error{Message: fmt.Sprintf("there is no loop %q: the program has none", name), Hint: "See flowrun explain loop."}
	}
	return nil, unknown(name, names, "There is "+strings.Join(names, ", ")+".", fmt.Sprintf("there is no loop %q", name))
}

// leftLoop finds the run of a loop that has not ended; found is false if there is none. A run that a process drives is an error.
func (a *app) leftLoop(ctx context.Context, s *store, name string) (left engine.Info, found bool, err error) {
	all, err := s.Loops(ctx)
	for i := range all {
		l := &all[i]
		switch {
		case l.Name != name || !l.Live():
		case a.engine() != "":
			return left, false, fmt.Errorf("loop %s runs already: workers drive run %s\nTo follow it: flowrun runs watch %[2]s%[3]s", ui.Clean(name), l.Run.Run, a.engineHints())
		case l.Run.Driver != 0:
			return left, false, fmt.Errorf("loop %s runs already: process %d drives run %s\nTo follow it: flowrun runs watch %s", ui.Clean(name), l.Run.Driver, l.Run.Run, l.Run.Run)
		default:
			return *l.Run, true, nil
		}
	}
	return left, false, err
}

// loopFlags declares the flags of the commands that ask for another behaviour of a loop.
func loopFlags(c *cobra.Command, o *args.LoopControl) {
	c.Flags().BoolVar(&o.JSON, "json", false, "as JSON")
}

// controlLoop asks for another behaviour of a loop, and prints how it is to behave now. A loop that runs hears of it at once.
func (a *app) controlLoop(o *args.LoopControl, r *event.LoopRequest) error {
	r.Loop, r.Agent, r.By = o.Name, o.Agent, strings.TrimPrefix(a.person().Author, "user:")
	v, err := a.askShared(event.StoreRequest{Loop: r}, makesStore)
	if err != nil {
		return err
	}
	if o.JSON {
		return ui.WriteJSON(a.out, v)
	}
	c, err := event.LoopControlOf(v)
	if err != nil {
		return err
	}
	for _, line := range controlWords(&c) {
		a.out.Printf("%s\n", ui.Clean(line))
	}
	return nil
}

// controlWords say how people want a loop to behave.
func controlWords(c *event.LoopControl) (out []string) {
	if c.Stopped {
		out = append(out, fmt.Sprintf("loop %s is stopped by %s; flowrun loop resume %s lets the daemon begin again, flowrun loop run %s does so in the foreground", c.Loop, c.By, c.Loop, c.Loop))
	}
	for _, agent := range slices.Sorted(maps.Keys(c.Paused)) {
		who, end := "loop "+c.Loop, "until flowrun loop resume "+c.Loop
		if agent != "" {
			who = fmt.Sprintf("agent %s of loop %s", agent, c.Loop)
			end += " --agent " + agent
		}
		if until := c.Paused[agent]; until != event.Forever {
			end = "until " + until.String()
		}
		out = append(out, who+" is paused "+end)
	}
	if len(out) == 0 {
		out = append(out, fmt.Sprintf("loop %s is neither paused nor stopped", c.Loop))
	}
	return out
}

// loopClaims lists the claims of the items of a loop; of all loops for "".
func (a *app) loopClaims(name string) (out []event.Claim, err error) {
	v, err := a.askShared(event.StoreRequest{Claims: true}, readsStore)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	for _, row := range list {
		c, err := event.ClaimOf(row)
		if err != nil {
			return nil, err
		}
		if name == "" || c.Loop == name {
			out = append(out, c)
		}
	}
	return out, nil
}

// unstopLoop takes a stop of a loop back. Pauses stay where there is none.
func unstopLoop(ctx context.Context, s *store, name string) error {
	v, err := s.Ask(ctx, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopRead, Loop: name}})
	if err != nil {
		return err
	}
	c, err := event.LoopControlOf(v)
	if err == nil && c.Stopped {
		_, err = s.Ask(ctx, event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopResume, Loop: name, By: c.By}})
	}
	return err
}

// askBoard asks the sources of a loop, by a worker where the runs are on an engine, and else by an open store.
func (a *app) askBoard(ctx context.Context, s *store, start engine.Start, held map[string]value.Value) (out board, err error) {
	if a.engine() != "" {
		f, err := a.dialFleet(ctx, false)
		if err != nil {
			return out, err
		}
		defer f.Close()
		return out, f.LoopBoard(ctx, start, &out)
	}
	b, err := s.LoopBoard(ctx, start, held)
	if err != nil {
		return out, err
	}
	return newBoard(b).(board), nil
}

// sayLeft says how many items a loop that found nothing to do has left, and why. It says nothing if the sources cannot be asked.
func (a *app) sayLeft(ctx context.Context, s *store, start engine.Start, held map[string]value.Value, o *args.LoopRun) {
	b, err := a.askBoard(ctx, s, start, held)
	if err != nil || len(b.Items)+len(b.Sources) == 0 {
		return
	}
	var reasons []string
	items := map[string]int{}
	for _, i := range b.Items {
		why := strings.Join(i.Why, "; ")
		if items[why]++; items[why] == 1 {
			reasons = append(reasons, why)
		}
	}
	for n, why := range reasons {
		if n == maxReasons {
			a.err.Printf("%d more reasons\n", len(reasons)-n)
			break
		}
		a.err.Printf("left: %s: %s\n", ui.Count(items[why], "item"), ui.Clean(why))
	}
	for _, source := range b.Sources {
		a.err.Printf("left: source %s: %s\n", ui.Clean(source.Name), ui.Clean(source.Barred))
	}
	a.err.Printf("Details: flowrun loop next %s --dry-run%s\n", quoteLine([]string{o.Name, o.Path}), a.sceneOf(s, nil).Flags)
}

// maxReasons is how many reasons loop run gives for the items that it left.
const maxReasons = 10
