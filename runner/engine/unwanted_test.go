package engine

import (
	"maps"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

func TestUnwanted(t *testing.T) {
	starts := func(n uint64) event.Command { return event.Command{Start: &event.Attempt{Ticket: n}} }
	cancels := func(n uint64) event.Command { return event.Command{Cancel: &event.CancelAttempt{Ticket: n}} }
	for _, test := range []struct {
		commands []event.Command
		want     map[uint64]bool
	}{
		{nil, nil},
		{[]event.Command{starts(1), starts(2)}, nil},
		{[]event.Command{cancels(1), starts(2)}, nil},
		{[]event.Command{starts(1), starts(2), {SetTimer: &event.SetTimer{Timer: 1}}, cancels(1)}, map[uint64]bool{1: true}},
	} {
		if have := Unwanted(test.commands); !maps.Equal(have, test.want) {
			t.Errorf("of %v unwanted is %v, want %v", test.commands, have, test.want)
		}
	}
}
