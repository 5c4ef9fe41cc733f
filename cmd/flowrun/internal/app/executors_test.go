package app

import (
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

// Whatever a machine can ask for, something here carries it out.
func TestEveryKindOfAttemptHasAnExecutor(t *testing.T) {
	registered := (&executors{memory: &remembering{}}).registry()
	for _, k := range event.AttemptKinds {
		if registered[k] == nil {
			t.Errorf("nothing carries out attempts of kind %q: register an executor for it", k)
		}
	}
}
