package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/view/graph"
)

func (a *app) newGraphCommand() *cobra.Command {
	var o args.Graph
	c := &cobra.Command{
		Use: "graph FILE|DIR|RUN [WORKFLOW]", Short: "Draw a workflow, or the progress of a run", Args: between(0, 2, "FILE|DIR|RUN [WORKFLOW]"),
		Long: `graph writes a drawing of a workflow to standard output: the dependencies, the groups, and the conditional and repeated nodes.
With --run, or for the id of a run or latest, it draws the workflow that the run was started with, and the states of its nodes.

  flowrun graph release.flow.hcl > release.svg
  flowrun graph latest > latest.svg
  flowrun graph . --around test --depth 2 > test.svg
  flowrun graph . --format mermaid`,
		RunE: func(c *cobra.Command, words []string) error {
			words = append(words, "", "")
			o.Path, o.Workflow = words[0], words[1]
			if err := o.Check(); err != nil {
				return err
			}
			if !c.Flags().Changed("format") && a.out.IsTerminal() {
				return &args.Error{Message: "graph writes a picture, and standard output is a terminal",
					Hint: "Write the picture to a file: flowrun graph " + cmp.Or(o.Path, "--run "+o.Run) + " > workflow.svg. For a terminal: flowrun plan, or --format mermaid."}
			}
			a.asJSON = o.Format == "json"
			return a.runGraph(&o)
		},
	}
	c.Flags().StringVar(&o.Format, "format", "svg", "svg, mermaid, dot or json")
	c.Flags().StringVar(&o.Around, "around", "", "draw only the part of the workflow near `NODE`")
	c.Flags().IntVar(&o.Depth, "depth", -1, "with --around: how many edges away from the node, `N`; 1 by default")
	c.Flags().StringVar(&o.Run, "run", "", "draw `RUN` with its states: an id, a unique prefix, a workflow's name or latest")
	return c
}

func (a *app) runGraph(o *args.Graph) error {
	g, err := a.graphOf(o)
	if err != nil {
		return err
	}
	if o.Around != "" {
		if g, err = graphAround(g, o); err != nil {
			return err
		}
	}
	var out []byte
	switch o.Format {
	case "json":
		return ui.WriteJSON(a.out, g)
	case "mermaid":
		out = g.Mermaid()
	case "dot":
		out = g.DOT()
	default:
		if out, err = g.SVG(); err != nil {
			return fmt.Errorf("drawing %q: %w", g.Workflow, err)
		}
	}
	a.out.Raw(out)
	return nil
}

// graphAround returns the part of a graph that --around and --depth ask for.
func graphAround(g *graph.Graph, o *args.Graph) (*graph.Graph, error) {
	name := o.Around[strings.LastIndexByte(o.Around, '/')+1:] // of a path such as checks/test[2]
	name, _, _ = strings.Cut(name, "[")
	depth := o.Depth
	if depth < 0 {
		depth = 1
	}
	if part, ok := g.Around(name, depth); ok {
		return part, nil
	}
	names := []string{}
	for i := range g.Nodes {
		names = append(names, g.Nodes[i].ID)
	}
	e := &args.Error{Message: fmt.Sprintf("workflow %q has no node %q", g.Workflow, name), Hint: "See flowrun plan."}
	if near := diag.Nearest(name, names); near != "" {
		e.Hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return nil, e
}

// graphOf returns the graph to draw: of a run, or of the workflow of a file.
func (a *app) graphOf(o *args.Graph) (*graph.Graph, error) {
	if o.Run != "" {
		if o.Path != "" && a.global.Store == "" { // the file says which store is meant
			dir, err := a.storeDir(o.Path)
			if err != nil {
				return nil, err
			}
			a.global.Store = a.outsideEnvironment(dir)
		}
		return a.graphOfRun(o.Run, o.Workflow)
	}
	path, workflow := a.asWorkflow(o.Path, o.Workflow)
	if _, err := os.Stat(path); err != nil {
		g, err := a.graphOfRun(path, workflow)
		switch {
		case !errors.As(err, new(*noRun)) || path == "latest":
			return g, err
		case !strings.ContainsAny(path, "/."): // the word is not written as a path
			return nil, &args.Error{Message: fmt.Sprintf("there is no file, folder or run %q", path), Hint: "See flowrun runs list."}
		}
	}
	p, err := a.loadProgram(path)
	if err != nil {
		return nil, err
	}
	w, err := p.workflow(workflow)
	if err != nil {
		return nil, err
	}
	pg, err := plan.Build(p.ir, w.Name)
	if err != nil {
		return nil, err
	}
	return standalone.Draw(pg), nil
}

// graphOfRun draws the recorded definition of a run, also if the file has changed.
func (a *app) graphOfRun(name, workflow string) (g *graph.Graph, err error) {
	err = a.withRun(name, nil, func(s *store, info engine.Info) error {
		g, err = s.DrawRun(context.Background(), info, workflow)
		var other *standalone.OtherWorkflow
		if errors.As(err, &other) {
			err = args.Errorf("%s", other.Error())
		}
		return err
	})
	return g, err
}
