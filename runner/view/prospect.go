package view

import "github.com/flowrun/flowrun/runner/event"

// Prospect is what the next driver of a run would do first. Its JSON is an interface.
type Prospect struct {
	Run      string       `json:"run"`
	Workflow string       `json:"workflow"`
	Status   event.Status `json:"status"`
	// Driver is the process that drives the run now, 0 if none does. The run would be left to it, so Would is empty.
	Driver  int      `json:"driver,omitempty"`
	Crashed bool     `json:"crashed"`
	Would   []Intent `json:"would"`
}

// Intent is one thing that would happen, in the run or in a run that it calls. Does is "start" (an attempt), "wait" (a timer goes on),
// "call" (a called run goes on, or its end is taken), or "end" (a node, or with Node "" the run, ends before anything starts).
type Intent struct {
	Does       string       `json:"does"`
	Run        string       `json:"run"`
	Node       string       `json:"node"`
	Attempt    int          `json:"attempt,omitempty"`
	Gate       string       `json:"gate,omitempty"`
	Compensate bool         `json:"compensate,omitempty"`
	Child      string       `json:"child,omitempty"`
	Status     event.Status `json:"status,omitempty"`
	Due        Moment       `json:"due,omitempty"`
	Overdue    bool         `json:"overdue,omitempty"`
	Reason     string       `json:"reason,omitempty"`
}
