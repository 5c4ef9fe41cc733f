package learn

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

// Bounds of a pattern.
const (
	// MaxPattern is how long its text is, in bytes.
	MaxPattern = 400
	// MaxSources is how many learnings one cites; a subject with more of them gets another pattern.
	MaxSources = 200
)

// PatternOf is what a group of learnings comes to: how often it was seen and how it went, the lesson nearest to all of them,
// and the others as far as there is room. Where successes and failures, or lessons, contradict each other, it is marked and
// tells both. Its id is that of its sources, so that equal groups give one entry. The group has at least one member and no patterns.
func PatternOf(group []entry.Item) entry.Entry {
	group = inOrder(group)
	first := group[0]
	p := entry.Entry{
		Type: entry.Pattern, Scope: first.Scope, Agent: first.Agent, Auto: true,
		By: entry.Source{Run: first.By.Run, Source: "consolidate", Author: "flowrun", Trust: first.By.Trust},
	}
	var tags []string
	for i := range group {
		e := &group[i]
		p.DerivedFrom = append(p.DerivedFrom, e.ID)
		p.Importance = max(p.Importance, e.Importance)
		tags = append(tags, e.Tags...)
		if e.By.Run != p.By.Run {
			p.By.Run = ""
		}
		p.By.Trust = lower(p.By.Trust, e.By.Trust)
		if last := lastSeen(e); last.After(p.CreatedAt) {
			p.CreatedAt = last
		}
	}
	slices.Sort(p.DerivedFrom)
	p.DerivedFrom = slices.Compact(p.DerivedFrom)
	p.ID = patternID(p.DerivedFrom)
	p.Tags = Tags(tags...)
	p.Importance = min(1, math.Round((p.Importance+float64(len(group)-1)/10)*100)/100)
	p.Conflict = conflicting(group)
	middle := medoid(group)
	p.Context = group[middle].Context
	p.Text = head(group, p.Conflict) + body(group, middle, p.Conflict)
	p.Text = Clip(p.Text, MaxPattern)
	return p
}

// patternID is the id of the pattern of these sources.
func patternID(sources []string) string {
	sources = slices.Sorted(slices.Values(sources))
	return ID(append([]string{"pattern"}, sources...)...)
}

// head tells how often, how it went, and when last.
func head(group []entry.Item, conflict bool) string {
	n, failures, successes := 0, 0, 0
	var last time.Time
	for i := range group {
		e := &group[i]
		times := max(e.Count, 1)
		n += times
		switch e.Type {
		case entry.Failure:
			failures += times
		case entry.Success:
			successes += times
		}
		if seen := lastSeen(e); seen.After(last) {
			last = seen
		}
	}
	out := "Seen " + count(n, "time")
	if failures+successes > 0 {
		out += fmt.Sprintf(" (%s, %s)", count(failures, "failure"), count(successes, "success"))
	}
	out += ", last " + last.UTC().Format(time.DateOnly)
	if conflict {
		out += ", contradicting each other"
	}
	return out + ": "
}

// body is the lesson in the middle, or of a conflict the newest of both sides, and the others under the bound.
func body(group []entry.Item, middle int, conflict bool) string {
	chosen := []int{middle}
	if conflict {
		a, b := sides(group)
		chosen = []int{a, b}
	}
	var out strings.Builder
	for k, i := range chosen {
		if k > 0 {
			out.WriteString(" But: ")
		}
		out.WriteString(sentence(said(group[i].Entry), (MaxPattern-headRoom)/len(chosen)))
	}
	also := " Also: "
	for _, i := range distinct(group, chosen) {
		s := sentence(said(group[i].Entry), MaxPattern)
		if headRoom+out.Len()+len(also)+len(s) > MaxPattern {
			continue
		}
		out.WriteString(also + s)
		also = " "
	}
	return out.String()
}

// headRoom is the longest that a head gets.
const headRoom = 110

// said is what an entry has to say: its lesson, or without one its text, or what was observed.
func said(e entry.Entry) string {
	return cmp.Or(oneLine(e.Lesson), oneLine(e.Text), oneLine(e.Observation))
}

// sentence is a text of at most n bytes that ends as a sentence does.
func sentence(text string, n int) string {
	text = Clip(text, n-1)
	if text == "" || strings.HasSuffix(text, "…") || strings.ContainsRune(".!?", rune(text[len(text)-1])) {
		return text
	}
	return text + "."
}

// count is "1 failure", "2 failures", "2 successes".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "s") {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// inOrder copies a group into the order of time, and of ids where that is equal.
func inOrder(group []entry.Item) []entry.Item {
	group = slices.Clone(group)
	slices.SortFunc(group, func(a, b entry.Item) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(group, func(a, b entry.Item) bool { return a.ID == b.ID })
}

func lastSeen(e *entry.Item) time.Time {
	if e.Last.After(e.CreatedAt) {
		return e.Last
	}
	return e.CreatedAt
}

// lower is the lower of two trusts.
func lower(a, b entry.Trust) entry.Trust {
	order := []entry.Trust{entry.Untrusted, entry.ByAgent, entry.ByRule, entry.ByPerson}
	return order[max(0, min(slices.Index(order, a), slices.Index(order, b)))]
}
