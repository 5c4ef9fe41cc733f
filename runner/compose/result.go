package compose

import (
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Result is a node's result as expressions read it.
type Result struct {
	Status event.Status
	// Released is false for a node that was not released and has no result. Most of its attributes
	// are null.
	Released bool
	ExitCode int
	Stdout   string
	Stderr   string
	// Prints is set for a node that runs a program. The streams of other nodes are null if they are
	// empty.
	Prints   bool
	Error    *event.Error
	Attempts int
	Agent    string
	Started  event.Time
	Finished event.Time // 0: the node has not ended
	Now      event.Time
	Winner   string
	Usage    event.Usage
	Partial  bool
	// Escalated is the highest level of its escalation that the node has come to.
	Escalated string
	By        string // who gave the result; "": nobody
	// Repeats is set for a repeat, which alone has a number of iterations.
	Repeats    bool
	Iterations int
}

// attributes are those of every result object.
var attributes = []string{"output", "status", "exit_code", "stdout", "stderr", "error", "attempts", "duration", "started_at",
	"finished_at", "agent", "instances", "counts", "winner", "iterations", "usage", "partial", "escalated", "by"}

// ResultObject makes a whole result of its attributes.
func ResultObject(read func(attr string) value.Value) map[string]any {
	o := make(map[string]any, len(attributes))
	for _, a := range attributes {
		o[a] = read(a)
	}
	return o
}

// Attribute returns one attribute of a result. output, instances and counts are not among them: they
// depend on other nodes, so the machine computes them.
func (r *Result) Attribute(name string) value.Value {
	if name == "status" {
		if !r.Status.Terminal() {
			return string(event.Running) // a rule let a node start before this one ended
		}
		return string(r.Status)
	}
	switch name {
	case "usage":
		return r.Usage.Object()
	case "partial":
		return r.Partial
	}
	if !r.Released {
		switch name {
		case "exit_code":
			return -1.0
		case "attempts", "duration":
			return 0.0
		}
		return nil
	}
	switch name {
	case "exit_code":
		return float64(r.ExitCode)
	case "stdout":
		return r.readStream(r.Stdout)
	case "stderr":
		return r.readStream(r.Stderr)
	case "error":
		return objectOrNull(r.Error.Object())
	case "attempts":
		return float64(r.Attempts)
	case "duration":
		return r.seconds()
	case "started_at":
		return timeOrNull(r.Started)
	case "finished_at":
		return timeOrNull(r.Finished)
	case "agent":
		return textOrNull(r.Agent)
	case "winner":
		return textOrNull(r.Winner)
	case "escalated":
		return textOrNull(r.Escalated)
	case "by":
		return textOrNull(r.By)
	case "iterations":
		if r.Repeats {
			return float64(r.Iterations)
		}
	}
	return nil
}

func (r *Result) readStream(text string) value.Value {
	if r.Prints {
		return text
	}
	return textOrNull(text)
}

// seconds returns the time from the start to the end, or until now, in seconds.
func (r *Result) seconds() float64 {
	switch {
	case r.Started == 0:
		return 0
	case r.Finished == 0:
		return r.Now.Sub(r.Started).Seconds()
	}
	return r.Finished.Sub(r.Started).Seconds()
}

func textOrNull(s string) value.Value {
	if s == "" {
		return nil
	}
	return s
}

func timeOrNull(t event.Time) value.Value {
	if t == 0 {
		return nil
	}
	return t.String()
}

// Counts counts the ends of a node's children or instances.
type Counts struct{ Total, Done, Succeeded, Failed, Skipped int }

// Object returns the attribute counts of a result.
func (c Counts) Object() map[string]any {
	return map[string]any{
		"total": float64(c.Total), "succeeded": float64(c.Succeeded), "failed": float64(c.Failed), "skipped": float64(c.Skipped),
	}
}

// read returns the count that a join calls name.
func (c Counts) read(name string) value.Value {
	switch name {
	case "total":
		return float64(c.Total)
	case "done":
		return float64(c.Done)
	case "succeeded":
		return float64(c.Succeeded)
	case "failed":
		return float64(c.Failed)
	}
	return float64(c.Skipped)
}
