package engine

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

func TestUnknownWhenBusyIsRefused(t *testing.T) {
	later := func([]byte, event.RunStarted) (Group, error) { return Group{Name: "g", WhenBusy: "later"}, nil }
	if _, err := GroupOf(later, &Start{}); err == nil || !strings.Contains(err.Error(), `unknown when_busy "later"`) {
		t.Errorf("the error is %v", err)
	}
}
