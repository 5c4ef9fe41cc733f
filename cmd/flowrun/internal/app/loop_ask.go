package app

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
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
		return nil, &args.Error{Message: fmt.Sprintf("there is no loop %q: the program has none", name), Hint: "flowrun explain loop shows how one is written."}
	}
	return nil, unknown(name, names, "There is "+strings.Join(names, ", ")+".", fmt.Sprintf("there is no loop %q", name))
}

// leftLoop finds the run of a loop that has not ended; found is false if there is none. A run that a process drives is an error.
func (a *app) leftLoop(ctx context.Context, s *store, name string) (left engine.Info, found bool, err error) {
	all, err := s.List(ctx, 0)
	for _, info := range all {
		switch {
		case info.Workflow != name || info.Parent != "" || info.Status.Terminal():
		case info.Driver != 0:
			return info, false, fmt.Errorf("loop %s runs already: process %d drives run %s\nTo follow it: flowrun runs watch %s", ui.Clean(name), info.Driver, info.Run, info.Run)
		default:
			return info, true, nil
		}
	}
	return left, false, err
}
