package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

func TestHeard(t *testing.T) {
	h, now := new(heard), time.Unix(0, 0)
	say := func(run, node, text string) {
		h.hear(event.Attempt{Run: run, Node: node, Attempt: 1}, "progress", text)
	}
	told := func(want string) {
		t.Helper()
		var have []string
		for _, s := range h.take(now) {
			have = append(have, s.Node+" "+s.Text)
		}
		if strings.Join(have, ", ") != want {
			t.Errorf("at %v: %q, want %q", now.Sub(time.Unix(0, 0)), have, want)
		}
	}
	say("r", "a", "to nobody")
	h.only("r")
	told("")
	say("r", "b", "1%")
	say("r", "a", "1%")
	say("r", "a", "")
	say("other", "c", "1%")
	told("b 1%, a 1%")
	say("r", "a", "2%")
	say("r", "a", "3%")
	told("")
	now = now.Add(TellEvery)
	told("a 3%")
	if now = now.Add(TellEvery); len(h.take(now)) > 0 || len(h.nodes) > 0 || len(h.order) > 0 {
		t.Errorf("the silent are kept: %v %v", h.nodes, h.order)
	}
	for i := range 2 * maxSpeakers {
		say("r", fmt.Sprint(i), strings.Repeat("x", 2*maxSaying))
	}
	if list := h.take(now); len(list) != maxSpeakers || len(list[0].Text) != maxSaying {
		t.Errorf("%d are heard", len(list))
	}
}
