package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Bounds of what an agent gives to the memory. What goes beyond them is left out and told by [Lines.LeftOut], and texts are cut: an
// agent that says too much has not failed.
const (
	// MaxTags is how many tags each of them has.
	MaxTags = 16
)

// Learned is what the agent said beside its last word that it learned.
func (l *Lines) Learned() []event.Learned { return l.learned }

// LeftOut says how much of what the agent gave to its memory went beyond the bounds; "" where all was taken, and where there is
// no memory, or none that its learnings go to.
func (l *Lines) LeftOut(use *event.MemoryUse) string {
	if use == nil {
		return ""
	}
	var said []string
	tell := func(what string, all, most int) {
		if all > most {
			said = append(said, fmt.Sprintf("of %d %s %d %s not kept: an attempt has %d at most", all, what, all-most, was(all-most), most))
		}
	}
	if use.Learn {
		tell("learnings", l.offered, limits.MaxLearned)
	}
	tell("notes", l.notes, limits.MaxNotes)
	return strings.Join(said, "; ")
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// note hears {"type":"remember","kind":"decision","text":"…"}.
func (l *Lines) note(m map[string]any) {
	m["type"] = m["kind"]
	e, ok := learning(m, []string{"note", "decision", "insight"})
	if !ok {
		return
	}
	if l.notes++; l.notes <= limits.MaxNotes && l.Note != nil {
		l.Note(e)
	}
}

// learn takes the learnings of a last word: a list of texts, which are lessons, and objects.
func (l *Lines) learn(m map[string]any) {
	l.learned, l.offered = nil, 0
	list, _ := m["learnings"].([]any)
	for _, v := range list {
		if text, is := v.(string); is {
			v = map[string]any{"lesson": text}
		}
		o, _ := v.(map[string]any)
		e, ok := learning(o, []string{"insight", "success", "failure"})
		if !ok {
			continue
		}
		if l.offered++; l.offered <= limits.MaxLearned {
			l.learned = append(l.learned, e)
		}
	}
}

// learning reads an entry. A type that there is not is the first of those that there are; without a text or a lesson there is
// nothing to keep.
func learning(m map[string]any, types []string) (event.Learned, bool) {
	text := func(name string) string {
		s, _ := m[name].(string)
		return executor.Clip(strings.TrimSpace(s), executor.MaxMessage)
	}
	e := event.Learned{Text: text("text"), Lesson: text("lesson"), Context: text("context"), Observation: text("observation"), Type: text("type")}
	if !slices.Contains(types, e.Type) {
		e.Type = types[0]
	}
	if f, ok := m["importance"].(float64); ok && f >= 0 && f <= 1 {
		e.Importance = f
	}
	tags, _ := m["tags"].([]any)
	for _, t := range tags {
		if s, ok := t.(string); ok && s != "" && len(e.Tags) < MaxTags {
			e.Tags = append(e.Tags, executor.Clip(s, executor.MaxTag))
		}
	}
	return e, e.Text != "" || e.Lesson != ""
}
