package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/view"
	"github.com/flowrun/flowrun/runner/view/graph"
)

// node answers with the details of one node of a run: why it ran or did not, its attempts, the verdicts of its gates.
func (s *Server) node(r *http.Request) (any, error) {
	info, err := s.info(r)
	if err != nil {
		return nil, err
	}
	path, err := s.pathOf(r.Context(), info, r.URL.Query().Get("path"))
	if err != nil {
		return nil, err
	}
	var out view.StoryDoc
	err = s.lookAt(r.Context(), info, wanted{story: path}, func(x *runView, begun []*view.Begun) error {
		if x.past.View.Node(path) == nil {
			return &refusal{http.StatusNotFound, "node", fmt.Sprintf("run %s has no node %.200q", info.Run, path)}
		}
		out = x.stories[len(x.stories)-1].With(begun).Document()
		return nil
	})
	return out, err
}

// aboutPath describes the short form of a path in the description of a parameter.
const aboutPath = " Of a path that is too long for an address: sha256: and the first 32 hex digits of its SHA-256."

// pathOf is the path of a node that a request names, maybe by its short form.
func (s *Server) pathOf(ctx context.Context, info engine.Info, text string) (string, error) {
	if !view.IsShort(text) {
		return text, nil
	}
	doc, err := s.readRun(ctx, info)
	if err != nil {
		return "", err
	}
	for i := range doc.Nodes {
		if view.Short(doc.Nodes[i].ID) == text {
			return doc.Nodes[i].ID, nil
		}
	}
	return "", &refusal{http.StatusNotFound, "node", fmt.Sprintf("run %s has no node %.80q", info.Run, text)}
}

// graph answers with the drawing of a run as a model: its nodes, what waits for what, and the states.
func (s *Server) graph(r *http.Request) (any, error) {
	info, err := s.info(r)
	if err != nil {
		return nil, err
	}
	var out *graph.Graph
	err = s.lookAt(r.Context(), info, wanted{}, func(x *runView, _ []*view.Begun) (err error) {
		out, err = standalone.DrawPast(x.past)
		return err
	})
	return out, err
}

// Definition is the text of the program that a run was started with.
type Definition struct {
	Path  string            `json:"path"`  // of the file or folder, absolute
	Files map[string]string `json:"files"` // their text, by name
}

func (s *Server) definition(r *http.Request) (any, error) {
	info, err := s.info(r)
	if err != nil {
		return nil, err
	}
	out := Definition{Files: map[string]string{}}
	text, err := s.daemon.store.Source(r.Context(), info.Run)
	if err != nil || len(text) == 0 { // a run that no command has started may have none
		return out, err
	}
	var source runner.Source
	if err = json.Unmarshal(text, &source); err == nil {
		out = Definition{source.Path, source.Files}
	}
	return out, err
}

// Form is what an approval asks for besides the decision.
type Form struct {
	Inputs []FormInput `json:"inputs"`
}

// FormInput is an input of an approval. Without Required it may be left out, and is then Default.
type FormInput struct {
	Name      string        `json:"name"`
	Type      string        `json:"type"`
	Required  bool          `json:"required"`
	Default   view.Data     `json:"default"`
	Enum      []value.Value `json:"enum,omitempty"`
	Sensitive bool          `json:"sensitive,omitempty"`
}

func (s *Server) form(r *http.Request) (any, error) {
	out := Form{Inputs: []FormInput{}}
	q := &event.DecideRequest{Run: r.URL.Query().Get("run"), Node: r.URL.Query().Get("node")}
	if engine.CheckID(q.Run) != nil {
		return nil, &refusal{http.StatusNotFound, "run", fmt.Sprintf("there is no run %.80q", q.Run)}
	}
	if view.IsShort(q.Node) {
		info, err := s.daemon.store.Get(r.Context(), q.Run)
		if err == nil {
			q.Node, err = s.pathOf(r.Context(), info, q.Node)
		}
		if err != nil {
			return nil, err
		}
	}
	p, err := s.daemon.store.Pinned(r.Context(), q.Run)
	if err != nil {
		return nil, err
	}
	asks, err := s.daemon.store.Ask(r.Context(), event.StoreRequest{Asks: true})
	if err != nil {
		return nil, err
	}
	step := askedStep(asks, p.Workflow, q)
	if step == nil {
		return out, nil
	}
	for i := range step.Inputs {
		v := &step.Inputs[i]
		out.Inputs = append(out.Inputs, FormInput{Name: v.Name, Type: v.Type.String(), Required: !v.HasDefault, Default: view.Data{Value: v.Default}, Enum: v.Enum, Sensitive: v.Sensitive})
	}
	return out, nil
}
