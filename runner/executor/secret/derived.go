package secret

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

// maxDerived bounds, in bytes, what is kept for all attempts of what was computed from secrets: a for_each may compute a text for
// each of its instances. What goes beyond is masked for the attempt alone that it was computed for.
const maxDerived = 4 << 10

// derived is what one attempt computes from secrets, and beside it what anybody may know of its expressions: what they hold
// themselves, and what they read that is not a secret.
type derived struct {
	made   []string
	public map[string]bool
}

func (d *derived) know(v value.Value) {
	for _, s := range mask.Strings(v) {
		d.public[s] = true
		for line := range strings.SplitSeq(s, "\n") {
			d.public[strings.TrimSpace(line)] = true
		}
	}
}

// tell takes in what the machine told of an expression.
func (d *derived) tell(l *event.Late) {
	for _, v := range l.Names { // any order: it fills a set
		d.know(v)
	}
	for _, in := range l.Inputs { // any order: it fills a set
		d.tell(&in)
	}
}

// Secret implements ir.Listener.
func (s *scope) Secret(r ir.Ref) bool {
	name := r.String()
	if _, told := s.l.Names[name]; told {
		return false
	}
	_, held := s.x.held[name]
	_, input := s.l.Inputs[r.Name]
	_, local := s.l.Locals[r.Name]
	return held || input && r.Root == "input" || local && r.Root == "local"
}

// Made implements ir.Listener.
func (s *scope) Made(v value.Value) { s.d.made = append(s.d.made, mask.Strings(v)...) }

// Written implements ir.Listener.
func (s *scope) Written(v value.Value) { s.d.know(v) }

// learn makes secrets of what was computed from secrets: each of their lines, and whole texts where all lines are secret. It returns
// those that there is no room to keep. x.mu is held.
func (x *Executor) learn(d *derived) (own []string) {
	if len(d.made) == 0 {
		return nil
	}
	public := slices.SortedFunc(maps.Keys(d.public), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, text := range d.made {
		list := append(pieces(text), text) // last, for its short lines
		for i, s := range list {
			if !x.news(s, public, own) || i == len(list)-1 && !x.closed(s, public, own) {
				continue
			}
			if x.derived+len(s) > maxDerived {
				own = append(own, s)
				continue
			}
			x.made, x.derived, x.layer = append(x.made, s), x.derived+len(s), nil
			clear(x.whole)
		}
	}
	return own
}

// closed tells whether all lines of a text are secret, as far as one can tell: the long ones are masked, and no other is public.
func (x *Executor) closed(text string, public, own []string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		masked := slices.Contains(x.strings, line) || slices.Contains(x.made, line) || slices.Contains(own, line)
		if line != "" && slices.Contains(public, line) || len(line) >= mask.MinLine && !masked {
			return false
		}
	}
	return true
}

// pieces are the long lines of a text, or the text if it has none: between lines that are secret may stand others.
func pieces(text string) (list []string) {
	if !strings.Contains(strings.TrimSpace(text), "\n") {
		return []string{text}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); len(line) >= mask.MinLine {
			list = append(list, line)
		}
	}
	if list == nil {
		return []string{text}
	}
	return list
}

// news tells whether a text holds something that is not masked yet and that nobody may know: more than a few bytes are left of it
// without secrets that are known, and without public words.
func (x *Executor) news(s string, public, own []string) bool {
	if len(s) < mask.MinSecret || slices.Contains(public, s) || slices.Contains(x.strings, s) || slices.Contains(x.made, s) || slices.Contains(own, s) {
		return false
	}
	for _, known := range [][]string{x.strings, x.made, own, public} {
		for _, t := range known {
			if len(t) >= mask.MinSecret {
				s = strings.ReplaceAll(s, t, "")
			}
		}
	}
	return len(strings.TrimSpace(s)) >= mask.MinSecret
}
