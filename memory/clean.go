package memory

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/flowrun/flowrun/memory/entry"
)

// Bounds of an entry. They are far above what a learning needs, and keep one write from filling a store.
const (
	MaxText = 1 << 20 // bytes of all texts of an entry together
	MaxID   = entry.MaxID
	MaxTags = 32
	MaxTag  = 64 // bytes
)

// clean makes an entry what the store keeps, or says why it can't be.
func clean(e *entry.Entry, now time.Time) error {
	e.Text, e.Context = strings.TrimSpace(e.Text), strings.TrimSpace(e.Context)
	e.Observation, e.Lesson = strings.TrimSpace(e.Observation), strings.TrimSpace(e.Lesson)
	if e.CreatedAt.IsZero() {
		e.CreatedAt = now
	}
	e.CreatedAt = e.CreatedAt.UTC()
	if err := cleanTags(e); err != nil {
		return err
	}
	size := len(e.Text) + len(e.Context) + len(e.Observation) + len(e.Lesson)
	switch {
	case size == 0:
		return bad("the entry has no text")
	case size > MaxText:
		return bad("the entry's texts have %d bytes, %d is the most", size, MaxText)
	case e.Type != "" && !slices.Contains(entry.Types, e.Type):
		return bad("type %q is not one of %s", e.Type, list(entry.Types))
	case !(e.Importance >= 0 && e.Importance <= 1):
		return bad("importance %v is not between 0 and 1", e.Importance)
	case e.CreatedAt.Year() < 1 || e.CreatedAt.Year() > 9999:
		return bad("the year %d of created_at can't be written down", e.CreatedAt.Year())
	}
	for _, s := range []string{e.Text, e.Context, e.Observation, e.Lesson, e.Agent, e.Session} {
		if !utf8.ValidString(s) {
			return bad("a text of the entry is not UTF-8")
		}
	}
	for _, name := range []string{e.Agent, e.Session} {
		if strings.ContainsFunc(name, unicode.IsControl) {
			return bad("the agent's or session's name %q has control characters", name)
		}
	}
	if len(e.Agent) > MaxID || len(e.Session) > MaxID {
		return bad("an agent's and a session's name have at most %d bytes", MaxID)
	}
	return checkScope(e.Scope)
}

func cleanTags(e *entry.Entry) error {
	tags := make([]string, 0, len(e.Tags))
	for _, t := range e.Tags {
		t = strings.ToLower(strings.TrimSpace(t))
		switch {
		case t == "":
			continue
		case len(t) > MaxTag:
			return bad("a tag has %d bytes, %d is the most", len(t), MaxTag)
		case !printable(t):
			return bad("tag %q has characters that can't be printed", t)
		}
		tags = append(tags, t)
	}
	slices.Sort(tags)
	e.Tags = slices.Compact(tags)
	switch {
	case len(e.Tags) > MaxTags:
		return bad("the entry has %d tags, %d is the most", len(e.Tags), MaxTags)
	case len(e.Tags) == 0:
		e.Tags = nil
	}
	return nil
}

// checkID refuses ids that could not stand in a line of text.
func checkID(id string) error {
	switch {
	case id == "":
		return bad("the entry has no id")
	case len(id) > MaxID:
		return bad("an id has %d bytes, %d is the most", len(id), MaxID)
	case !printable(id):
		return bad("id %q has characters that can't be printed", id)
	}
	return nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func list(ts []entry.Type) string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = string(t)
	}
	return strings.Join(out, ", ")
}
