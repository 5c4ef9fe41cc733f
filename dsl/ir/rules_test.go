package ir

import (
	"reflect"
	"testing"
)

func TestARuleHoldsFromItsNumberOn(t *testing.T) {
	planted := map[Rule]int{"old": 1, "planted": 3}
	for behaviour, want := range map[int]Rules{0: nil, 1: {"old": true}, 2: {"old": true}, 3: {"old": true, "planted": true}, 4: {"old": true, "planted": true}} {
		if have := rulesOf(behaviour, planted); !reflect.DeepEqual(have, want) {
			t.Errorf("number %d has the rules %v, want %v", behaviour, have, want)
		}
	}
}

// A rule of a number that no journal can have, or that all journals have, decides nothing.
func TestRulesHaveANumberBetweenTheFirstAndTheNewest(t *testing.T) {
	for rule, first := range since {
		if first < 2 || first > Behaviour {
			t.Errorf("rule %q holds from number %d on; the newest is %d", rule, first, Behaviour)
		}
	}
}
