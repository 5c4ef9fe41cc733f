package runner

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// MaxGroupName bounds the name of a group of runs, in bytes.
const MaxGroupName = 1 << 10

// Group gives the group of a run that is about to start: the zero value where its workflow has none.
func (c *Programs) Group(definition []byte, first event.RunStarted) (engine.Group, error) {
	if !bytes.Contains(definition, []byte(`"concurrency":{"group":`)) { // so that a large program without a group is not loaded for this
		return engine.Group{}, nil
	}
	p, err := c.Load("", definition)
	if err != nil {
		return engine.Group{}, err
	}
	w := p.Workflow(first.Workflow)
	if w == nil || w.Concurrency == nil {
		return engine.Group{}, nil
	}
	name, err := p.groupName(w, first)
	if err != nil {
		return engine.Group{}, fmt.Errorf("the concurrency group of workflow %q: %w", w.Name, err)
	}
	return engine.Group{Name: name, WhenBusy: engine.WhenBusy(w.Concurrency.WhenBusy)}, nil
}

// groupName evaluates the text that names the group. The text can read the values that the run has when it starts.
func (p *Program) groupName(w *ir.Workflow, first event.RunStarted) (string, error) {
	g, err := p.Graph(w.Name)
	if err != nil {
		return "", err
	}
	c := compose.New(g, expr.NewEvaluator(ir.NewestRules(), p.Files), &first)
	v, err := c.Value(&w.Concurrency.Group, c.Constants())
	if err != nil {
		return "", err
	}
	name, ok := v.(string)
	switch {
	case !ok:
		return "", fmt.Errorf("a text is needed, but this is %.60s", value.Text(v))
	case name == "":
		return "", errors.New("the text is empty")
	case len(name) > MaxGroupName:
		return "", fmt.Errorf("the text has %d bytes; it may have %d", len(name), MaxGroupName)
	}
	return name, nil
}
