package app

import (
	"bytes"
	"sync"

	"github.com/flowrun/flowrun/dsl/ir"
)

// definitions loads definitions and keeps the last one: a run's is asked for when it is made, when it is driven, and by every
// run that it calls. A program is not changed by those who have it. It is safe for concurrent use; the zero value is empty.
type definitions struct {
	mu         sync.Mutex
	definition []byte
	program    *ir.Program
}

func (c *definitions) load(definition []byte) (*ir.Program, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program != nil && bytes.Equal(c.definition, definition) {
		c.definition = definition // whoever asks keeps it, mostly; so none is kept for this alone
		return c.program, nil
	}
	p, err := ir.Load(definition)
	if err != nil {
		return nil, err
	}
	c.definition, c.program = definition, p
	return p, nil
}
