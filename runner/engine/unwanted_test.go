package engine

import (
	"maps"
	"slices"
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

func TestOnce(t *testing.T) {
	start := func(n uint64) event.Command { return event.Command{Start: &event.Attempt{Ticket: n}} }
	child := func(run string) event.Command { return event.Command{StartChild: &event.StartChild{Run: run}} }
	cancel := event.Command{Cancel: &event.CancelAttempt{Ticket: 1}}
	all := []event.Command{start(1), child("a"), cancel, start(1), start(2), child("b"), child("a"), cancel, start(2)}
	if have := Once(all); !slices.Equal(have, []event.Command{all[0], all[1], all[2], all[4], all[5], all[7]}) {
		t.Errorf("have %v", have)
	}
	if all[3].Start == nil || len(all) != 9 {
		t.Error("the commands have changed")
	}
	if some := all[:3]; &Once(some)[0] != &some[0] {
		t.Error("commands without repetition are copied")
	}
}
