package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

func (a *app) newShowCommand() *cobra.Command {
	var r args.Show
	c := &cobra.Command{
		Use: "show RUN [STEP]", Short: "Show the status of a run's nodes, or of one node, and why", Args: between(1, 2, "RUN [STEP]"),
		Long: `show prints each node of a run with its status and the reason: the nodes it waited for, the false condition and its values, the failed dependency. With a step, or the path of an instance (build/api[3]), it prints the details of this node: each
attempt, the verdicts of its gates, the nodes that depend on it. --failed prints only the steps that failed, below STEP if there is one.
--at N shows the run after event N (see flowrun events).`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.Run, a.asJSON = words[0], r.JSON
			if len(words) > 1 {
				r.Step = words[1]
			}
			if err := r.Check(); err != nil {
				return err
			}
			return a.withRun(r.Run, nil, func(s *store, info engine.Info) error { return a.runShow(s, info, &r) })
		},
	}
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
	c.Flags().IntVar(&r.At, "at", 0, "show the run after event `N`")
	c.Flags().BoolVar(&r.All, "all", false, "show all nodes; otherwise a long list shows its failures, its running nodes and the last ones")
	c.Flags().BoolVar(&r.Failed, "failed", false, "show only the steps that failed, with the end of their output")
	return c
}

// runShow replays a run up to the requested event, and shows the requested parts.
func (a *app) runShow(s *store, info engine.Info, r *args.Show) error {
	ctx := context.Background()
	if r.At > 0 && uint64(r.At) > info.Events {
		return &args.Error{Message: fmt.Sprintf("run %s has events 1 to %d; --at %d is too high", info.Run, info.Events, r.At),
			Hint: fmt.Sprintf("See flowrun events %s%s", info.Run, a.sceneOf(s, nil).Flags)}
	}
	p, err := s.Past(ctx, info.Run)
	if err != nil {
		return err
	}
	if err := knownStep(p.Workflow, r.Step); err != nil {
		return err
	}
	stories := map[string]*view.Story{}
	switch {
	case r.Step != "" && !r.Failed:
		err = p.Replay(ctx, func(e runner.Seen) bool {
			showStories(p, stories, r.Step, &e)
			return e.Event.Seq != uint64(r.At)
		})
	case r.At > 0:
		err = p.Replay(ctx, func(e runner.Seen) bool { return e.Event.Seq != uint64(r.At) })
	default:
		err = p.Replay(ctx, nil)
	}
	if err != nil {
		return err
	}
	p.View.RetriedBy = info.RetriedBy
	now := event.At(time.Now())
	var begun []*view.Begun
	if r.At == 0 {
		begun = s.Unanswered(p, info)
		s.Stand(p, info, begun)
	} else {
		now = p.View.Last
		a.err.Printf("After event %d of %d, at %s:\n", r.At, info.Events, now)
	}
	if r.Step != "" && !r.Failed {
		return a.showStep(s, p, stories, r, begun, now)
	}
	if r.JSON {
		files, err := s.Scripts(ctx, info.Run)
		if err != nil {
			return err
		}
		trouble := info.Trouble
		if r.At > 0 {
			trouble = ""
		}
		return ui.WriteRun(a.out, p.View, begun, trouble, struct {
			Scripts []runner.Script `json:"scripts,omitempty"`
		}{files})
	}
	ui.Show(a.out, p.View, begun, a.sceneOf(s, s.Where(ctx, info.Run)), now, ui.Shown{All: r.All, Failed: r.Failed, Step: r.Step})
	if r.At == 0 && info.Status.Terminal() && info.Status != event.Succeeded && info.RetriedBy == "" {
		if c := a.changed(s, s.Origin(ctx, info.Run)); c.differs() {
			a.err.Printf("%s: flowrun retry uses the old definition.%s\n", c.what, c.advice())
		}
	}
	if r.At == 0 {
		if err := a.showScripts(ctx, s, info.Run); err != nil {
			return err
		}
	}
	if r.At == 0 && info.Interrupted() {
		a.err.Printf("%s\n", a.describeUndriven(s, info))
	} else if r.At == 0 && info.Trouble != "" {
		a.err.Printf("%s\n", a.describeTrouble(info))
	} else if r.At == 0 && !info.Status.Terminal() {
		if lines := answerLines(s, info.Run, a.sceneOf(s, nil).Flags); lines != "" {
			a.err.Printf("The run waits for people. Answer with:\n%s", lines)
		}
	}
	return nil
}

// showScripts names the files that steps run and that have changed since the run began.
func (a *app) showScripts(ctx context.Context, s *store, run string) error {
	files, err := s.Scripts(ctx, run)
	for _, f := range files {
		if f.Changed {
			a.err.Printf("%s, which a step runs, has changed since run %s began\n", ui.Clean(f.Path), run)
		}
	}
	return err
}

// showStories gives an event to the stories of the nodes that a step's name can mean. Only the end shows
// which node the user meant.
func showStories(p *runner.Past, stories map[string]*view.Story, step string, e *runner.Seen) {
	paths := map[string]bool{e.Event.Node(): true}
	for i := range e.Caused.Transitions {
		paths[e.Caused.Transitions[i].Node] = true
	}
	for path := range paths {
		if path != step && (view.Base(path) != step || strings.HasSuffix(path, "]")) {
			continue
		}
		if stories[path] == nil {
			stories[path] = p.View.Story(path)
		}
		stories[path].Apply(e.Event, e.Caused)
	}
}

// showStep shows the one requested node.
func (a *app) showStep(s *store, p *runner.Past, stories map[string]*view.Story, r *args.Show, begun []*view.Begun, now event.Time) error {
	n, err := findNodeToShow(p, r.Step)
	if err != nil {
		return err
	}
	story := stories[n.Path]
	if story == nil {
		story = p.View.Story(n.Path)
	}
	story = story.With(begun)
	if r.JSON {
		return ui.WriteJSON(a.out, story.Document())
	}
	ui.Story(a.out, p.View, story, a.sceneOf(s, s.Where(context.Background(), p.Run)), now, r.All)
	return nil
}

// maxShownNames bounds the number of paths that are listed for an ambiguous name.
const maxShownNames = 5

// findNodeToShow finds the node that a path or a name means. A name may have several nodes, below instances
// of a for_each or iterations.
func findNodeToShow(p *runner.Past, step string) (*view.Node, error) {
	if n := p.View.Node(step); n != nil {
		return n, nil
	}
	list := p.View.Named(step)
	switch len(list) {
	case 0:
		if all := p.View.Node(step[:max(0, strings.LastIndexByte(step, '['))]); all != nil && all.Unmade() > 0 {
			return nil, &args.Error{Message: fmt.Sprintf("%q does not exist yet: of the %d instances of %q, %d wait for a slot (max_concurrency)", step, all.Members, all.Path, all.Unmade()),
				Hint: "See flowrun runs show " + p.Run}
		}
		return nil, &args.Error{Message: fmt.Sprintf("%q does not exist yet: the group around it has not started it", step),
			Hint: "See flowrun runs show " + p.Run}
	case 1:
		return list[0], nil
	}
	paths := make([]string, 0, maxShownNames)
	for _, n := range list[:min(len(list), maxShownNames)] {
		paths = append(paths, n.Path)
	}
	return nil, &args.Error{Message: fmt.Sprintf("%d nodes have the name %q", len(list), step),
		Hint: "Name one: " + strings.Join(paths, ", ")}
}
