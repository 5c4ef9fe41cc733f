package app

import (
	"encoding/json"
	"fmt"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// deadLetter is a dead letter as the store gives it.
type deadLetter struct {
	serve.DeadLetter
	Message *event.Message `json:"message"`
}

// readDead reads a dead letter, or a list of them, into to.
func readDead(v value.Value, to any) error {
	if err := json.Unmarshal(value.Append(nil, v), to); err != nil {
		return fmt.Errorf("reading the dead letters: %w", err)
	}
	return nil
}

// words is a dead letter in a line.
func (d *deadLetter) words() string { return ui.Clean(d.Words()) }
