package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// NodeProblem says why a node of a run cannot be cancelled.
type NodeProblem struct {
	Message string
	// Status is how the node, or the run, has ended; "" if no such node exists now.
	Status event.Status
	// Unknown is the name that the workflow does not have; "" if it has the name.
	Unknown string
	// Names are the names of the workflow if Unknown is set, else the paths of the nodes that the word can mean; nil if there are none.
	Names []string
}

func (p *NodeProblem) Error() string { return p.Message }

// maxNames bounds the number of names in a NodeProblem.
const maxNames = 5

// CancelNode asks for the end of one node of a run, whoever drives the run, and returns the path of the node. The word is the
// path of the node, its name, or the path of an instance with the name of its item; see [view.Run.Find]. The request is durable
// at the return; the driver of the run carries it out. The error is a *NodeProblem if the word means no node that can end.
func (s *Service) CancelNode(ctx context.Context, run, word string, c event.NodeCancel) (path string, err error) {
	p, err := s.History(ctx, run)
	if err != nil {
		return "", err
	}
	n, err := nodeToCancel(p, word)
	if err != nil {
		return "", err
	}
	return n.Path, s.Signal(ctx, run, c.External(n.Path))
}

// nodeToCancel finds the node that a word means. Of several nodes, those that have ended do not count.
func nodeToCancel(p *Past, word string) (*view.Node, error) {
	if p.View.Status.Terminal() {
		return nil, &NodeProblem{Message: fmt.Sprintf("run %s has ended: %s", p.Run, p.View.Status), Status: p.View.Status}
	}
	switch list := p.View.FindLive(word); {
	case len(list) == 0:
		return nil, missingNode(p, word)
	case len(list) > 1:
		x := &NodeProblem{Message: fmt.Sprintf("%d nodes have the name %q", len(list), word)}
		for _, n := range list[:min(len(list), maxNames)] {
			x.Names = append(x.Names, n.Path)
		}
		return nil, x
	case list[0].Status.Terminal():
		x := &NodeProblem{Message: fmt.Sprintf("%q of run %s has ended: %s", list[0].Path, p.Run, list[0].Status), Status: list[0].Status}
		if left := detachedIn(list[0], nil); len(left) > 0 {
			x.Message += "; still running in it: " + strings.Join(left[:min(len(left), maxNames)], ", ")
		}
		return nil, x
	default:
		return list[0], nil
	}
}

// detachedIn adds the paths of the nodes that a group has detached, which run on in it after its end.
func detachedIn(group *view.Node, paths []string) []string {
	for _, n := range group.Children {
		if n.Status == event.Running && len(n.Children) == 0 {
			paths = append(paths, n.Path)
		}
		paths = detachedIn(n, paths)
	}
	return paths
}

// missingNode says why a word means no node: the workflow does not have it, or its group has not made it.
func missingNode(p *Past, word string) error {
	names := p.Workflow.StepNames()
	if slices.Contains(names, view.Base(word)) {
		group := word
		if at := strings.IndexByte(word, '['); at > 0 {
			group = word[:at]
		}
		for _, n := range p.View.Find(group) {
			if n.Status.Terminal() || n.Members > 0 {
				return &NodeProblem{Message: fmt.Sprintf("run %s has no node %q; %q has %d instances", p.Run, word, n.Path, max(n.Members, len(n.Children)))}
			}
		}
		return &NodeProblem{Message: fmt.Sprintf("%q does not exist yet: the group around it has not started it", word)}
	}
	return &NodeProblem{Message: fmt.Sprintf("workflow %q has no node %q", p.Workflow.Name, word), Unknown: view.Base(word), Names: names}
}

// AwaitNode waits until a node of a run has ended, and returns its status. It returns "" if no process drives the run, or if the
// run has ended without the node. The error is the cause of ctx if ctx is done first.
func (s *Service) AwaitNode(ctx context.Context, run, path string) (event.Status, error) {
	p, err := s.Past(ctx, run)
	if err != nil {
		return "", err
	}
	ctx, enough := context.WithCancelCause(ctx)
	defer enough(nil)
	ended := func() event.Status {
		if n := p.View.Node(path); n != nil && n.Status.Terminal() {
			return n.Status
		}
		return ""
	}
	err = p.Watch(ctx, Watcher{
		Batch: func(events []event.Event, out *event.Reaction) { p.View.Apply(events, out) },
		Alone: func(engine.Info) { enough(ErrEnough) },
		Look: func(engine.Info) {
			if ended() != "" {
				enough(ErrEnough)
			}
		},
	})
	if err == ErrEnough {
		err = nil
	}
	return ended(), err
}
