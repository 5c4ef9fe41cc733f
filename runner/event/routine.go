package event

import "time"

// Scheduled is a routine of a program that is registered.
type Scheduled struct {
	Name string `json:"name"`
	Spec string `json:"spec"` // the ir.Routine as JSON, which tells whether it has changed
}

// RoutineOperation is what a [RoutineRequest] asks for.
type RoutineOperation string

// The operations on routines.
const (
	RoutineList    RoutineOperation = "list"    // all routines, in the order of their names
	RoutineNext    RoutineOperation = "next"    // the moment at which something is due, or null
	RoutineDue     RoutineOperation = "due"     // takes in the moments that have passed, and lists the runs to start
	RoutineStarted RoutineOperation = "started" // says what became of moments
	RoutinePause   RoutineOperation = "pause"   // from now on, the routine starts no runs
	RoutineResume  RoutineOperation = "resume"  // from now on, the routine starts runs
	RoutineStarts  RoutineOperation = "starts"  // what the runs of a program begin with
)

// RoutineRequest reads or changes the routines of a store. Only a person makes it, or who starts their runs.
type RoutineRequest struct {
	Operation RoutineOperation `json:"operation"`
	Name      string           `json:"name,omitempty"`    // of pause and resume
	Program   string           `json:"program,omitempty"` // of next, due and starts: the path of a program; "": all programs
	Done      []Occurred       `json:"done,omitempty"`    // of started
}

// Occurred says what became of a moment of a routine. Without Run it starts none, for the reason Why.
type Occurred struct {
	Routine     string `json:"routine"`
	ScheduledAt Time   `json:"scheduled_at"`
	Run         string `json:"run,omitempty"`
	Why         string `json:"why,omitempty"`
}

// RoutineGrace is how late a moment of a routine may be and still counts as on time. What is later was missed.
const RoutineGrace = time.Minute

// MaxDueMoments is how many moments an answer to [RoutineDue] lists, and those of one routine more.
const MaxDueMoments = 1000

// DueRoutines is the answer to [RoutineDue].
type DueRoutines struct {
	Due      []DueMoment `json:"due"`
	Programs []DueStarts `json:"programs"`
}

// DueMoment is a moment of a routine whose run is to start.
type DueMoment struct {
	Routine     string `json:"routine"`
	Program     string `json:"program"`
	Workflow    string `json:"workflow"`
	ScheduledAt Time   `json:"scheduled_at,string"`
	Store       string `json:"store,omitempty"` // as that of [Due]
}

// Identity are the parts that name the run: the same moment of the same routine starts the same run.
func (d *DueMoment) Identity() []string {
	return inStore(d.Store, "routine", d.Program, d.Routine, d.ScheduledAt.Go().Format(time.RFC3339Nano))
}

// Cause is the cause of the run.
func (d *DueMoment) Cause() *Cause {
	return &Cause{Kind: CauseRoutine, Name: d.Routine, ScheduledAt: d.ScheduledAt}
}
