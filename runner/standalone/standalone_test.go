package standalone

import (
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

// Whatever a machine can ask for, an executor here carries it out.
func TestEveryKindOfAttemptHasAnExecutor(t *testing.T) {
	_, x, registered := newService(t.TempDir(), t.TempDir(), nil, Options{})
	defer x.close()
	for _, k := range event.AttemptKinds {
		if registered[k] == nil && k != event.StoreAttempt && k != event.HoldAttempt && k != event.HumanAgentAttempt { // the host answers those
			t.Errorf("nothing carries out attempts of kind %q: register an executor for it", k)
		}
	}
}
