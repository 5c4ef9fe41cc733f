package enginetest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Program is what the suite's machine runs: tasks that start when those that they come after have ended well.
type Program struct {
	Tasks []Task `json:"tasks"`
	// Parallel bounds the live attempts; 0 means no bound.
	Parallel int `json:"parallel,omitempty"`
	// Twist makes the machine ask for other attempts, as another release might.
	Twist bool `json:"twist,omitempty"`
	// Workflows are what tasks can call, by name. All of them see all.
	Workflows map[string]Program `json:"workflows,omitempty"`
}

// Task is an attempt, answered by the executor or, if Null, by an agent of type null; or, with Wait, a timer;
// or, with Call, a child run.
type Task struct {
	Name  string        `json:"name"`
	After []string      `json:"after,omitempty"`
	Null  bool          `json:"null,omitempty"`
	Wait  time.Duration `json:"wait,omitempty"`
	// Tries is how many attempts there are, a second apart each; 0 means 1.
	Tries int `json:"tries,omitempty"`
	// With is what a null agent gives back.
	With string `json:"with,omitempty"`
	// Call makes the task a child run of one of Workflows.
	Call string `json:"call,omitempty"`
	// Agent makes an agent of this name do the task. With Null the agent is of type null.
	Agent string `json:"agent,omitempty"`
	// Scarce, if not 0, is how many attempts at tasks that are scarce may be live at once, over all runs of a store.
	Scarce int `json:"scarce,omitempty"`
	// Needs is what each attempt needs of what runs share, besides what Scarce says.
	Needs []event.Need `json:"needs,omitempty"`
	// Classify goes with the Needs.
	Classify []event.Classify `json:"classify,omitempty"`
	// Hold makes the task take its Needs and keep them until the run ends.
	Hold bool `json:"hold,omitempty"`
	// Spare, if not "", is what a scarce task asks for instead when it was refused, as the same attempt. There is one of it.
	Spare string `json:"spare,omitempty"`
	// Count makes the task add 1 to this key of what runs share. The run's output "counts" holds the answers, by task.
	Count string `json:"count,omitempty"`
	// Emit makes the task publish an event of this name. Its data is the name of the task.
	Emit string `json:"emit,omitempty"`
	// Event makes the task wait for an event of this name that no other task of the run has taken. "notes" holds the data.
	Event string `json:"event,omitempty"`
	// Point makes the task check in at this sync point as a party, As, and wait for the parties a and b. "counts" holds the answer.
	Point string `json:"point,omitempty"`
	As    string `json:"as,omitempty"`
	// Claim makes the task take this item, count under the key "work ITEM", and close the item; with the item lost to another run, it
	// does no more. "counts" holds the claim.
	Claim string `json:"claim,omitempty"`
	// HandOver makes the task hand work over to this agent, and begin a message to the channel "dev" that nobody sends.
	HandOver string `json:"hand_over,omitempty"`
	// Tell makes the task send a message from this place to the channels dev and ops; see messagesOnce.
	Tell string `json:"tell,omitempty"`
	// Listen makes the task listen for what concerns the loop of this name. The run's output "woken" counts the wakes.
	Listen string `json:"listen,omitempty"`
	// Note makes the task wait for a message of kind [Note] for it. The run's output "notes" holds what the messages said, by task.
	Note bool `json:"note,omitempty"`
}

// Note is the kind of message that the suite's machine knows besides cancel.
const Note event.ExternalKind = "note"

// Externals is what a host of the suite's machines lets into inboxes besides cancel.
var Externals = []event.ExternalKind{Note}

// Start makes a start of a program.
func (p Program) Start() engine.Start {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(b)
	return engine.Start{
		Header:     journal.Header{Format: journal.Format, Behaviour: 1, Definition: hex.EncodeToString(sum[:]), Workflow: "test"},
		Definition: b,
		First:      event.RunStarted{Workflow: "test"},
	}
}

// Events are the names of the events that a run of the suite waits for.
func Events(definition []byte, first event.RunStarted) (names []string, err error) {
	var p Program
	if err := json.Unmarshal(definition, &p); err != nil {
		return nil, fmt.Errorf("a program of the suite: %w", err)
	}
	if w, ok := p.Workflows[first.Workflow]; ok {
		p = w
	}
	for _, t := range p.Tasks {
		if t.Event != "" && !slices.Contains(names, t.Event) {
			names = append(names, t.Event)
		}
	}
	return names, nil
}

// Factory makes the suite's machine.
func Factory(h journal.Header, definition []byte) (engine.Machine, error) {
	var p Program
	if err := json.Unmarshal(definition, &p); err != nil {
		return nil, fmt.Errorf("a program of the suite: %w", err)
	}
	if w, ok := p.Workflows[h.Workflow]; ok {
		w.Workflows = p.Workflows
		p = w
	}
	return newMachine(h.Run, p), nil
}

// Twisted makes a machine that does not repeat what Factory's does.
func Twisted(h journal.Header, definition []byte) (engine.Machine, error) {
	m, err := Factory(h, definition)
	if err == nil {
		m.(*machine).program.Twist = true
	}
	return m, err
}

// Chain is n null attempts, one after the other.
func Chain(n int) Program {
	var p Program
	for i := range n {
		t := Task{Name: fmt.Sprintf("t%d", i), Null: true, With: "x"}
		if i > 0 {
			t.After = []string{fmt.Sprintf("t%d", i-1)}
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// Fan is n null attempts, up to parallel at once.
func Fan(n, parallel int) Program {
	p := Program{Parallel: parallel}
	for i := range n {
		p.Tasks = append(p.Tasks, Task{Name: fmt.Sprintf("t%d", i), Null: true, With: "x"})
	}
	return p
}
