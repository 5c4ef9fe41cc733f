package ir

import (
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
)

// Test is one test of a test file: a run of a workflow in virtual time, with stubs in place of what it would start. It is not a part of a
// [Program] and is stored nowhere.
type Test struct {
	Name string
	// Workflow is what the run without a label runs; "" if blocks start the runs.
	Workflow string
	// Loops are the loops that run in place of a workflow; nil if none does. Items are what their sources hold besides what is handed in.
	Loops []string
	Items []TestItem
	// Lists are files with lists of work by the names of the sources that read them, in place of items.
	Lists map[string]string
	// Inputs and Vars are complete: defaults are filled in, and values have the declared types. Inputs are those of the run without a label.
	Inputs, Vars map[string]value.Value
	// Store is what runs share when the run starts: values by NAMESPACE/KEY.
	Store   map[string]value.Value // see [SplitStoreKey]
	StartAt time.Time              // virtual
	RunFor  time.Duration          // virtual; 0: until all has ended
	Stubs   []Stub
	Moments []Moment      // in file order
	Expect  []Expectation // asked at the end
	// CrashEverywhere asks for the test again with a crash at each point of the run. All of these runs must end alike.
	CrashEverywhere bool
	// Paths gives for each path of a node that a condition names the whole path, with keys.
	Paths map[string]string
	// Files are what file("PATH") stands for in replies.
	Files map[string]string
	At    Place
}

// SplitStoreKey splits a key as tests write it, NAMESPACE/KEY, into the namespace and the key in it. A text without a slash is a
// key of the namespace "default".
func SplitStoreKey(text string) (namespace, key string) {
	if namespace, key, split := strings.Cut(text, "/"); split {
		return namespace, key
	}
	return "default", text
}

// Place is where something stands in a file. Line and Column count from 1.
type Place struct {
	File         string
	Line, Column int
}

// StubKind says in whose place a stub answers.
type StubKind string

// The kinds of stubs.
const (
	AgentStub   StubKind = "agent"
	StepStub    StubKind = "step"
	GateStub    StubKind = "gate"
	ChannelStub StubKind = "channel"
	SourceStub  StubKind = "source" // of the loop; it answers the requests for a list
)

// Stub answers attempts. There is at least one reply.
type Stub struct {
	Kind StubKind
	// Name is written in the file: of an agent, a node's path, GATE, or STEP/GATE. Path is the path that Name stands for, without keys of
	// instances; "" for an agent, a channel, a gate of all steps, and a node of a workflow that several nodes run, wherever it is run.
	Name, Path string
	// Instance is the path with keys where the stub is for one instance; else "".
	Instance string
	Replies  []Reply
	At       Place
}

// Reply is one answer. Its expressions read request. A nil expression is an attribute that was not given.
type Reply struct {
	Output, Stdout, Stderr, ExitCode, Error, Status, Usage, Partial, Measured, Takes *Expr

	Hang, Lost bool
	At         Place
}

// Expectation is a condition that must hold.
type Expectation struct {
	Expr
	At Place
}

// MomentKind says what happens at a moment of a test.
type MomentKind string

// The kinds of moments.
const (
	AskMoment    MomentKind = "at"     // conditions are asked
	StartMoment  MomentKind = "start"  // a run starts
	RetryMoment  MomentKind = "retry"  // a run starts that repeats another one
	CancelMoment MomentKind = "cancel" // a run or a node of it is cancelled
	CrashMoment  MomentKind = "crash"  // the driver dies, and another one takes over
	VanishMoment MomentKind = "vanish" // the driver stands still, and goes on
	DownMoment   MomentKind = "down"   // the driver dies, and for some time there is none

	RedriveMoment MomentKind = "redrive" // what was given up of a run is tried again
	MetricsMoment MomentKind = "metrics" // figures of the machine change

	EmitMoment    MomentKind = "emit"     // an event is published
	CheckInMoment MomentKind = "check_in" // a party checks in at a sync point

	DecideMoment MomentKind = "decide" // a person decides

	DispatchMoment MomentKind = "dispatch" // work is handed in
	CloseMoment    MomentKind = "close"    // somebody else ends an item
)

// TestItem is an item that a source of a loop holds.
type TestItem struct {
	Source string
	After  time.Duration          // when the source has it, since the start
	Item   map[string]value.Value // its members, as sources answer; id and title are there
}

// TestRun is a run that a block of a test starts. Labels are unique in a test.
type TestRun struct {
	Label, Workflow string
	// Inputs are complete, as those of a [Test]. A run that repeats another one has the inputs of that, and these are nil.
	Inputs map[string]value.Value
}

// Moment is what happens at a time after the start.
type Moment struct {
	Kind   MomentKind
	After  time.Duration
	For    time.Duration // of VanishMoment and DownMoment
	Expect []Expectation // of AskMoment
	// Of is the label of the run that it is about; "" for the run that has none, and for the driver of all runs.
	Of   string
	Run  *TestRun // of StartMoment and RetryMoment
	From string   // of RetryMoment: the node that runs again besides; "" for none
	// Set are the outputs of steps that By gives, by their paths, of RetryMoment.
	Set  map[string]value.Value
	By   string // of RetryMoment, DispatchMoment and CancelMoment
	Node string // of CancelMoment: the only node that is cancelled; "" for the run
	Name string // of the event of EmitMoment, and of the point of CheckInMoment; the id of DispatchMoment and CloseMoment
	// Data is what the event of EmitMoment says, the figures of MetricsMoment by their names, and the item of DispatchMoment.
	Data   value.Value
	Key    string // of EmitMoment; "": none
	Forge  bool   // of EmitMoment: the delivery of a webhook has a signature of another key
	As     string // of CheckInMoment
	Reason string // of CheckInMoment: why the party is not ready; "": it is ready. Of CancelMoment: why; "": no reason
	// Decision is that of DecideMoment, and After counts from when the node of the path Name first waits for people.
	Decision *TestDecision
	At       Place
}

// TestDecision is what a person decides in a test.
type TestDecision struct {
	Word, By, Comment string
	Input             map[string]value.Value // nil: none is given
	Output            value.Value
	Shown             int // the showing that the person looked at, from 1; 0: the last
}
