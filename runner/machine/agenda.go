package machine

import "github.com/flowrun/flowrun/runner/event"

// taskKind is the kind of a task.
type taskKind uint8

const (
	doEvent          taskKind = iota // take an event in
	doRelease                        // release the children of a group or of the run, one per task
	doSpawn                          // make the instances of a for_each, one per task
	doIterate                        // make the next iteration of a repeat
	doReady                          // all dependencies of a node have ended
	doStartParked                    // the run has free slots again, and attempts are parked
	doCollect                        // all children of a group, or instances, have ended
	doEndUnreleased                  // end the children of a group that ended before their release, one per task
	doCancel                         // end a node because its run or group ends
	doCancelChildren                 // end the children of such a node, one per task
	doEnd                            // the last top-level node of a phase has ended
	doFinally                        // the next node of finally may run
)

// task is an entry of the agenda.
type task struct {
	do     taskKind
	hard   bool // a cancel also ends nodes that run "always"
	ref    ref
	cursor int
	event  *event.Event
	status event.Status
	reason string
}

// agenda is a queue. Its order is part of the machine's behaviour.
type agenda struct {
	tasks []task
	head  int
}

func (a *agenda) push(t task) { a.tasks = append(a.tasks, t) }

func (a *agenda) empty() bool { return a.head == len(a.tasks) }

func (a *agenda) pop() task {
	t := a.tasks[a.head]
	a.tasks[a.head] = task{}
	a.head++
	if a.head == len(a.tasks) {
		a.tasks, a.head = a.tasks[:0], 0
	} else if a.head >= 1024 && a.head*2 >= len(a.tasks) {
		n := copy(a.tasks, a.tasks[a.head:])
		clear(a.tasks[n:])
		a.tasks, a.head = a.tasks[:n], 0
	}
	return t
}
