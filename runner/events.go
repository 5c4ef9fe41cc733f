package runner

import (
	"bytes"

	"github.com/flowrun/flowrun/runner/event"
)

// Events gives the names of the events that a run waits for which is about to start.
func (c *Programs) Events(definition []byte, first event.RunStarted) ([]string, error) {
	if !bytes.Contains(definition, []byte(`"wait":{"event":`)) { // so that a large program without such a wait is not loaded for this
		return nil, nil
	}
	p, err := c.Load("", definition)
	if err != nil {
		return nil, err
	}
	g, err := p.Graph(first.Workflow)
	if err != nil {
		return nil, err
	}
	return g.Events(), nil
}
