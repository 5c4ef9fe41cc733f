package wire

import "github.com/flowrun/flowrun/runner/event"

// An attempt that lasts longer than the execution that handed it out is detached: its worker ends the activity, goes on with the attempt, and says where
// it has it. A workflow of its own then waits for the answer, and signals it to the run, whichever execution is alive. So the run can continue as new.

// Names of what the server knows of detached attempts.
const (
	Detached = "flowrun.detached.v1" // workflow: waits for the answer of a detached attempt, with [Detachment]
	Rejoin   = "flowrun.rejoin.v1"   // activity of it, in the queue of the worker that has the attempt: with the token of the claim
	Recall   = "flowrun.recall.v1"   // signal to the workflow: the run does not want the attempt any more
	Landed   = "flowrun.landed.v1"   // signal to the run, with [Landing]
	OfWorker = "worker/"             // begins the task queue of one worker process
)

// Claim says which worker has a detached attempt.
type Claim struct {
	Queue string `json:"queue"`
	Token string `json:"token"`
}

// Detachment is the argument of [Detached].
type Detachment struct {
	Run   string `json:"run"`
	Task  Task   `json:"task"`
	Claim Claim  `json:"claim"`
}

// Landing is how an attempt that was handed out comes back: Answer, Never or Lost is set.
type Landing struct {
	Answer *Answer `json:"answer,omitempty"`
	Never  bool    `json:"never,omitempty"` // it was cancelled before a worker began with it
	Lost   string  `json:"lost,omitempty"`  // why its worker is gone, in words
	// ID and Task are those of a detached attempt.
	ID   string `json:"id,omitempty"`
	Task *Task  `json:"task,omitempty"`
}

// Away is what the run knows of a detached attempt.
type Away struct {
	ID        string                `json:"id"` // of the workflow that waits for it
	Cancelled bool                  `json:"cancelled,omitempty"`
	Session   string                `json:"session,omitempty"` // of its agent, if it has told one since it was handed out
	Lost      event.AttemptFinished `json:"lost"`              // its answer, if that workflow is gone
}
