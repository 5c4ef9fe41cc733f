package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

func TestProgress(t *testing.T) {
	p, now := new(Progress), time.Unix(0, 0)
	say := func(node, text string) { p.addText(&event.Attempt{Node: node, Attempt: 1}, text) }
	told := func(want string) {
		t.Helper()
		var have []string
		for _, s := range p.Take(now) {
			have = append(have, s.Node+" "+s.Text)
		}
		if strings.Join(have, ", ") != want {
			t.Errorf("at %v: %q, want %q", now.Sub(time.Unix(0, 0)), have, want)
		}
	}
	told("")
	say("b", "1%")
	say("a", "1%")
	say("a", "")
	told("b 1%, a 1%")
	say("a", "2%")
	say("a", "3%")
	told("")
	now = now.Add(ProgressEvery)
	told("a 3%")
	if now = now.Add(ProgressEvery); len(p.Take(now)) > 0 || len(p.nodes) > 0 || len(p.order) > 0 {
		t.Errorf("silent nodes are kept: %v %v", p.nodes, p.order)
	}
	for i := range 2 * maxProgressNode {
		say(fmt.Sprint(i), strings.Repeat("x", 2*MaxProgressText))
	}
	if list := p.Take(now); len(list) != maxProgressNode || len(list[0].Text) != MaxProgressText {
		t.Errorf("%d are heard", len(list))
	}
}
