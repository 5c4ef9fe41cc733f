// Package learn makes learnings of tasks and patterns of learnings, without a model.
//
// It knows entries and words. It reads no clock and no disk, computes no vectors (a caller tells how near two groups of
// entries are: [Nearness]), and knows nothing of workflows: a caller tells what happened as a [Task]. It must never import
// the store, the index, or anything that can do I/O.
//
// Enter at [FromTask] for what a task taught, at [Key] for what counts as a repeat of it, and at [Consolidate] for what
// a pile of learnings comes to. What always holds:
//
//   - Equal arguments give equal entries, ids included: what is written again after a crash is the same entry.
//   - No entry is changed or removed here. A pattern cites what it was made of, and says which of it it stands for.
//   - Learnings are grouped by what they say, those behind a pattern too: the pattern's own text takes no part. So doing it
//     again joins nothing more, and patterns are not made of patterns.
//   - Nothing leaves the scope that it was in: entries of two scopes never share a pattern or a key.
//   - Every text is bounded, and cut between characters.
package learn

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/memory/entry"
)

// Bounds of a learning's texts, in bytes.
const (
	// MaxContext, MaxObservation and MaxLesson hold for what the templates make.
	MaxContext     = 400
	MaxObservation = 600
	MaxLesson      = 300
	// MaxWorded holds for each text that an agent worded itself.
	MaxWorded = 1000
	// MaxTags is how many tags an entry has, and MaxTag how many bytes one has.
	MaxTags = 12
	MaxTag  = 40
)

// Task is what is known of an agent's task when it has ended.
type Task struct {
	Agent string
	Run   string
	Step  string // the node's path, "build/api[2]": with Run and Part it makes the id of what is learned
	Part  string // which of the things that the task taught this is; "" is its outcome
	Text  string // what was asked, in the file's words
	OK    bool   // it succeeded, and nothing refused it
	// Attempts counts the tries, from 1.
	Attempts int
	// Problem is what went wrong: in the last attempt, or where the task succeeded, in the one before it. Nil where nothing did.
	Problem *Problem
	// Rule is what the file says of the problem: the message of a gate, the condition of a repeat.
	Rule   string
	Output string // a short form of the result, as [Outline] makes it
	Tags   []string
	// Trust is how far the agent is believed. What an untrusted one taught stays in its run.
	Trust entry.Trust
	At    time.Time
}

// Problem is how an attempt failed. Every field may be empty.
type Problem struct {
	Kind     string // transient, rate_limited, recoverable, blocking, fatal
	Reason   string // exit, signal, timeout, gate, not_found and so on; round, where a repeat did not accept the result
	Message  string
	Command  string
	ExitCode int
	Gate     string
	Status   int // of HTTP
	Stdout   string
	Stderr   string
}

// FromTask is the learning of a task. Its lesson is a template's, marked Auto, around the words of those who say what went wrong.
func FromTask(t Task) entry.Entry {
	f := find(t.Problem)
	return t.learning(cmp.Or(t.Part, "outcome"), observation(t, f), lesson(t, f))
}

// Facts is what flowrun itself knows of how a task came out, and what the file says of it: no word of an agent is in it, nor of
// what a program printed.
func Facts(t Task) entry.Entry {
	t.Output = ""
	f := finding{line: fact(t)}
	lesson := lesson(t, f)
	if p := t.Problem; !t.OK && t.Rule == "" && p != nil && (p.Reason == "exit" || p.Reason == "agent") {
		lesson = fmt.Sprintf("It failed (%s): find out why before trying it the same way.", f.line)
	}
	f.line = oneLine(t.Rule) // how it failed is told before it
	return t.learning(cmp.Or(t.Part, "outcome")+" facts", observation(t, f), lesson)
}

// learning is an entry that a template words.
func (t Task) learning(part, observation, lesson string) entry.Entry {
	e := t.entry(part)
	e.Type, e.Auto = entry.Success, true
	if !t.OK {
		e.Type = entry.Failure
	}
	e.Context = Clip(oneLine(t.Text), MaxContext)
	if e.Context == "" {
		e.Context = Clip("step "+stepOf(t.Step), MaxContext)
	}
	e.Observation, e.Lesson = Clip(observation, MaxObservation), Clip(lesson, MaxLesson)
	e.Tags = tagsOf(t)
	e.Importance = Importance(e.Type, e.Tags)
	return e
}

// Said completes the n-th learning (from 0) that the agent worded itself: whose it is, when, where from, who sees it. What
// it left out is filled in: a type of insight, the task as context, the importance of its type.
func (t Task) Said(n int, worded entry.Entry) entry.Entry {
	e := t.entry(strings.TrimSpace(fmt.Sprintf("said %d %s", n, t.Part)))
	e.Type = worded.Type
	switch e.Type {
	case entry.Success, entry.Failure, entry.Insight:
	default:
		e.Type = entry.Insight
	}
	e.Text, e.Context = Clip(worded.Text, MaxWorded), Clip(worded.Context, MaxWorded)
	e.Observation, e.Lesson = Clip(worded.Observation, MaxWorded), Clip(worded.Lesson, MaxWorded)
	if e.Context == "" {
		e.Context = Clip(oneLine(t.Text), MaxContext)
	}
	e.Tags = Tags(append(append([]string{}, worded.Tags...), t.Tags...)...)
	if e.Importance = min(max(worded.Importance, 0), 1); e.Importance == 0 {
		e.Importance = Importance(e.Type, e.Tags)
	}
	return e
}

// entry is the part that all entries of a task share. What names one of them among the others of its task.
func (t Task) entry(what string) entry.Entry {
	scope := entry.OfAgent(t.Agent)
	if t.Trust == entry.Untrusted {
		scope = entry.OfRun(t.Run)
	}
	return entry.Entry{
		ID: ID("task", t.Run, t.Step, what), Scope: scope, Agent: t.Agent, CreatedAt: t.At,
		By: entry.Source{Run: t.Run, Step: t.Step, Source: "result", Author: "agent:" + t.Agent, Trust: t.Trust},
	}
}

// tagsOf are the tags given, the step's name, and what kind of trouble it was where that says more than that it failed.
func tagsOf(t Task) []string {
	tags := append([]string{stepOf(t.Step)}, t.Tags...)
	if p := t.Problem; p != nil && p.Reason != "exit" && p.Reason != "agent" {
		tags = append(tags, p.Reason)
	}
	return Tags(tags...)
}

// keys are those of instances, which may be an agent's words; iteration is the number of one behind its node.
var (
	keys      = lazyregexp.New(`\[("(\\.|[^"\\])*"|[^\]]*)\]`)
	iteration = lazyregexp.New(`/i\d+$`)
)

// stepOf is the name of the step in a path.
func stepOf(path string) string {
	path = iteration().ReplaceAllString(keys().ReplaceAllString(path, ""), "")
	return path[strings.LastIndexByte(path, '/')+1:]
}
