package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/view"
)

// Retry repeats a run that has ended. At most one of From and Only is set.
type Retry struct {
	From string      `json:"from,omitempty"` // a step that runs again besides, with all nodes that depend on it
	Only string      `json:"only,omitempty"` // the one step that runs again
	All  bool        `json:"all,omitempty"`  // the whole workflow, where the run was limited to some steps
	File bool        `json:"file,omitempty"` // the file that the run began with, as it is now; what it asks for in the same words is reused
	Set  []SetOutput `json:"set,omitempty"`  // outputs of steps that a person did by hand
	By   string      `json:"by,omitempty"`   // that person
}

// SetOutput is the output of a step that was done by hand.
type SetOutput struct {
	Step   string          `json:"step"`
	Output json.RawMessage `json:"output"`
}

// retry starts a run that repeats a run, and drives it.
func (s *Server) retry(r *http.Request) (any, error) {
	var o Retry
	info, err := s.info(r)
	if err == nil {
		err = readBody(r, &o)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Status.Terminal():
		return nil, &refusal{http.StatusConflict, "running", fmt.Sprintf("run %s has not ended", info.Run)}
	case info.Parent != "":
		if item := s.daemon.store.ItemOf(r.Context(), info.Run); item != "" {
			return nil, &refusal{http.StatusConflict, "called", item + "; the loop does the item again when its source lists it as open"}
		}
		return nil, &refusal{http.StatusConflict, "called", fmt.Sprintf("run %s was called by run %s; retry that one", info.Run, info.Parent)}
	case o.From != "" && o.Only != "":
		return nil, &refusal{http.StatusBadRequest, "body", "from and only exclude each other"}
	case o.All && o.Only != "":
		return nil, &refusal{http.StatusBadRequest, "body", "all and only exclude each other"}
	case len(o.Set) > 0 && o.By == "":
		return nil, &refusal{http.StatusBadRequest, "body", "set needs by: the person who did the steps"}
	}
	wish := retry.Wish{From: o.From, Only: o.Only, All: o.All, By: o.By}
	steps := []string{o.From, o.Only}
	for _, set := range o.Set {
		v, err := value.Decode(set.Output)
		if err != nil {
			return nil, &refusal{http.StatusBadRequest, "body", fmt.Sprintf("the output of %.80q: %v", set.Step, err)}
		}
		wish.Set, steps = append(wish.Set, retry.Set{Step: set.Step, Output: v}), append(steps, set.Step)
	}
	if o.File && s.Remote() {
		return nil, &refusal{http.StatusConflict, "file", "this machine may not have the file of the run: use flowrun retry RUN --file where the file is"}
	}
	if o.File {
		return s.retryFile(r, info.Run, o, wish, steps)
	}
	p, err := s.daemon.store.Pinned(r.Context(), info.Run)
	if err != nil {
		return nil, err
	}
	if err := knowSteps(p.Workflow, steps); err != nil {
		return nil, err
	}
	if err := s.knowFolder(r.Context(), info.Run); err != nil {
		return nil, err
	}
	if err := s.audit(r, "retry", info.Run, o); err != nil {
		return nil, err
	}
	return s.startRetry(r.Context(), info.Run, wish)
}

// startRetry starts a run that repeats a run, and drives it.
func (s *Server) startRetry(ctx context.Context, run string, wish retry.Wish) (Started, error) {
	again, err := s.daemon.store.StartRetry(ctx, run, wish, s.daemon.options.Release)
	if err != nil {
		return Started{}, err
	}
	s.daemon.drive(again)
	return Started{again}, nil
}

// retryFile starts a run of the file that a run began with as the file is now, and drives it.
func (s *Server) retryFile(r *http.Request, run string, o Retry, wish retry.Wish, steps []string) (any, error) {
	ctx := r.Context()
	then, err := s.daemon.store.Pinned(ctx, run)
	if err != nil {
		return nil, err
	}
	was, err := s.daemon.store.SourceOf(ctx, run)
	if err != nil || was.Path == "" {
		return nil, &refusal{http.StatusConflict, "file", fmt.Sprintf("run %s does not know its file", run)}
	}
	if info, err := os.Stat(was.Path); err != nil || !info.IsDir() && !info.Mode().IsRegular() { // reading it might wait
		return nil, &refusal{http.StatusConflict, "file", fmt.Sprintf("%s is not a file or a folder", was.Path)}
	}
	p, list := dsl.Load(disk.Open(was.Path, dsl.Options{Version: s.daemon.options.Release}))
	if list.HasErrors() {
		message := ""
		for i := range list {
			message = cmp.Or(message, list[i].Summary)
		}
		return nil, &refusal{http.StatusConflict, "file", fmt.Sprintf("%s has errors: %s", was.Path, message)}
	}
	dir, err := disk.Folder(was.Path)
	if err != nil {
		return nil, err
	}
	if w := p.IR.Workflow(then.Workflow.Name); w != nil {
		if err := knowSteps(w, steps); err != nil {
			return nil, err
		}
	}
	if err := s.audit(r, "retry", run, o); err != nil {
		return nil, err
	}
	again, err := s.daemon.store.StartRetryChanged(ctx, run, p.IR, SourceOf(p, was.Path, then.Workflow.Name).Encode(), dir, wish, s.daemon.options.Release)
	if err != nil {
		return nil, err
	}
	s.daemon.drive(again)
	return Started{again}, nil
}

// SourceOf is the text of a program that is stored with a run of one of its workflows. For "" it names the nodes of all workflows, as
// WORKFLOW/NODE. path is absolute.
func SourceOf(p *dsl.Program, path, workflow string) runner.Source {
	b := runner.Source{Files: map[string]string{}, Where: map[string]string{}, Path: path}
	for name, text := range p.Sources { // any order: it fills a map
		b.Files[name] = string(text)
	}
	for key, r := range p.Positions { // any order: it fills a map
		of, node, ok := strings.Cut(key, "/")
		switch {
		case !ok || strings.Contains(node, "/"):
		case workflow == "":
			b.Where[key] = fmt.Sprintf("%s:%d", r.File, r.Start.Line)
		case of == workflow:
			b.Where[node] = fmt.Sprintf("%s:%d", r.File, r.Start.Line)
		}
	}
	return b
}

// iteration matches the last part of the path of an iteration, as in build/i2.
var iteration = lazyregexp.New(`^i[1-9][0-9]*$`)

// knowFolder refuses a run whose folder is gone. Workers of a server have folders of their own.
func (s *Server) knowFolder(ctx context.Context, run string) error {
	if s.Remote() {
		return nil
	}
	first, err := s.daemon.store.Started(ctx, run)
	if err != nil {
		return err
	}
	if _, err := os.Stat(first.Dir); first.Dir != "" && errors.Is(err, os.ErrNotExist) {
		return &refusal{http.StatusConflict, "folder", fmt.Sprintf("the folder of run %s no longer exists: %s", run, first.Dir)}
	}
	return nil
}

// knowSteps refuses names of steps that a workflow does not have. Empty names are passed over.
func knowSteps(w *ir.Workflow, steps []string) error {
	for _, step := range steps {
		name := view.Base(step)
		if up := view.Parent(step); up != "" && iteration().MatchString(name) {
			name = view.Base(up)
		}
		if step != "" && !slices.Contains(w.StepNames(), name) {
			return &refusal{http.StatusUnprocessableEntity, "step", fmt.Sprintf("workflow %q has no step %.80q", w.Name, step)}
		}
	}
	return nil
}

// readInputs gives a decision the inputs of its approval.
func (s *Server) readInputs(ctx context.Context, q *event.DecideRequest, given map[string]json.RawMessage) error {
	if q.Decision.Word != event.WordApprove {
		if len(given) > 0 {
			return &refusal{http.StatusBadRequest, "body", fmt.Sprintf("inputs are only for %s, and the decision is %.40q", event.WordApprove, q.Decision.Word)}
		}
		return nil
	}
	p, err := s.daemon.store.Pinned(ctx, q.Run)
	if err != nil {
		return err
	}
	asks, err := s.daemon.store.Ask(ctx, event.StoreRequest{Asks: true})
	if err != nil {
		return err
	}
	step := askedStep(asks, p.Workflow, q)
	if step == nil { // the store says what is wrong
		return nil
	}
	first, err := p.First()
	if err != nil {
		return err
	}
	values := map[string]value.Value{}
	for name, text := range given { // any order: it fills a map
		if values[name], err = value.Decode(text); err != nil {
			return &refusal{http.StatusBadRequest, "body", fmt.Sprintf("input %.80q: %v", name, err)}
		}
	}
	var problems []error
	if q.Decision.Input, problems = dsl.Inputs("input", step.Inputs, values, dsl.Known{Vars: first.Vars, Files: p.Program.Files}); len(problems) > 0 {
		return &refusal{http.StatusUnprocessableEntity, "input", errors.Join(problems...).Error()}
	}
	return nil
}

// askedStep is the approval that a decision is for, by the path of its node, the path without iterations, or its name; nil if there is none.
func askedStep(asks value.Value, w *ir.Workflow, q *event.DecideRequest) *ir.Approve {
	list, _ := asks.([]any)
	for _, by := range []string{"node", "plain", "name"} {
		for _, one := range list {
			o, _ := one.(map[string]any)
			name, _ := o["name"].(string)
			if n := w.Find(name); o["run"] == q.Run && o[by] == q.Node && n != nil {
				step, _ := n.Action.(*ir.Approve)
				return step
			}
		}
	}
	return nil
}
