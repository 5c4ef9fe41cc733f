package view

import (
	"bytes"
	"encoding/json"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Document is a run as programs read it. Its JSON is an interface: fields are added, never renamed.
type Document struct {
	Run      string `json:"run"`
	Workflow string `json:"workflow"`
	// Description is the description of the workflow in the file.
	Description string       `json:"description,omitempty"`
	Status      event.Status `json:"status"`
	// Driven tells that a process drives the run now. One that has not ended and is not driven is interrupted.
	Driven bool `json:"driven"`
	// Reason and WaitsFor say what the run itself waits for: its turn, or units of quotas that it holds. Of a run that no process drives, a
	// daemon says here why it cannot drive the run.
	Reason   string       `json:"reason,omitempty"`
	WaitsFor *WaitsForDoc `json:"waits_for,omitempty"`
	// Trouble says what keeps a run on a server from going on, such as that no worker takes its work.
	Trouble    string       `json:"trouble,omitempty"`
	StartedAt  Moment       `json:"started_at"`
	FinishedAt Moment       `json:"finished_at"`
	Inputs     Data         `json:"inputs"`
	Outputs    Data         `json:"outputs"`
	Error      *event.Error `json:"error"`
	// Usage is what the run used, with the runs that it called; absent where there were no attempts, and before its end.
	Usage map[string]any `json:"usage,omitempty"`
	// Warnings are those of the run itself, such as of its budget.
	Warnings []string `json:"warnings,omitempty"`
	// Degraded are the paths of the nodes that failed and for which the output of a degrade block stands in.
	Degraded []string `json:"degraded,omitempty"`
	// Changes are those by rules of adapt.
	Changes []ChangeDoc `json:"changes,omitempty"`
	// Parent is the run that called this one, and ParentNode the path of its node that did.
	Parent     string `json:"parent,omitempty"`
	ParentNode string `json:"parent_node,omitempty"`
	// RetryOf is the run that this one repeats, and RetriedBy the newest that repeats this one.
	RetryOf   string `json:"retry_of,omitempty"`
	RetriedBy string `json:"retried_by,omitempty"`
	// Targets are the nodes that the run was limited to.
	Targets []string `json:"targets,omitempty"`
	// Cause is what started the run, as run.cause; absent if that was a person or a call.
	Cause map[string]any `json:"cause,omitempty"`
	Nodes []NodeDoc      `json:"nodes"`
	// Unanswered are the attempts that are under way, and those that lost their driver, as far as they are known.
	Unanswered []TryDoc `json:"unanswered,omitempty"`
}

// ChangeDoc is a change by a rule of adapt in a Document. Node is the path of the group, "" for the run.
type ChangeDoc struct {
	At   Moment `json:"at"`
	Node string `json:"node"`
	Rule int    `json:"rule"`
	What string `json:"what"`
	From Data   `json:"from"`
	To   Data   `json:"to"`
	Run  string `json:"run,omitempty"`
	Why  string `json:"why"`
}

// NodeDoc is a node in a Document. ID is the instance's path; Reason says why it ran, was skipped or blocked.
type NodeDoc struct {
	ID string `json:"id"`
	// Item names the member of a list that an instance works on, as JSON; Members is the number of instances of a for_each.
	Item    string `json:"item,omitempty"`
	Members int    `json:"members,omitempty"`
	// Description is the description of the node in the file.
	Description string `json:"description,omitempty"`
	// Pattern is the pattern that the file has in place of the node: feedback, consensus or compete.
	Pattern  string       `json:"pattern,omitempty"`
	Status   event.Status `json:"status"`
	Attempts int          `json:"attempts"`
	ExitCode int          `json:"exit_code"` // -1 where there is none
	Output   Data         `json:"output"`
	Error    *event.Error `json:"error"`
	// Said is the last line that a failed attempt wrote to its standard error, or else to its standard output, if the error does not have it.
	Said       string  `json:"said,omitempty"`
	StartedAt  Moment  `json:"started_at"`
	FinishedAt Moment  `json:"finished_at"`
	Agent      *string `json:"agent"`
	Reason     string  `json:"reason"`
	// WaitsFor says what a waiting node waits for, or which run a running node has called.
	WaitsFor *WaitsForDoc `json:"waits_for,omitempty"`
	// Tolerated tells that the node failed and that this does not count.
	Tolerated bool `json:"tolerated,omitempty"`
	// Reused tells that the node ended so in the run that this one repeats, and did not run again.
	Reused bool `json:"reused,omitempty"`
	// Winner is the name or key of the child that a join picked, Iterations how many a repeat made.
	Winner     string `json:"winner,omitempty"`
	Iterations int    `json:"iterations,omitempty"`
	// Partial tells that the output was handed in when the time of the attempt was up.
	Partial bool `json:"partial,omitempty"`
	// Escalated is the highest level of its escalation that the node has come to.
	Escalated string `json:"escalated,omitempty"`
	// Set tells that a person gave the result when the run began, and By who gave it; "" if the node came to it by itself.
	Set bool   `json:"set,omitempty"`
	By  string `json:"by,omitempty"`
	// Usage is what its attempts used; absent where there were none.
	Usage map[string]any `json:"usage,omitempty"`
	// Child is the id of the run that the node called.
	Child string `json:"child,omitempty"`
	// Warnings are what the file asks for and could not be computed: it counts as not there.
	Warnings []string `json:"warnings,omitempty"`
	// Compensation tells how far what the node did is undone.
	Compensation *CompensationDoc `json:"compensation,omitempty"`
}

// WaitsForDoc is what a node waits for, and until when at the latest; null where nobody knows.
type WaitsForDoc struct {
	Kind  event.WaitKind `json:"kind"`
	Name  string         `json:"name"`
	Until Moment         `json:"until"`
}

// CompensationDoc is a node's undoing: its status is "compensating", "compensated" or "not_compensated".
type CompensationDoc struct {
	Status   event.Note   `json:"status"`
	ExitCode int          `json:"exit_code"` // -1 where there is none
	Error    *event.Error `json:"error"`
}

// Moment writes itself as RFC 3339 in UTC with milliseconds, 0 as null.
type Moment event.Time

// MarshalJSON implements json.Marshaler.
func (m Moment) MarshalJSON() ([]byte, error) {
	if m == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(event.Time(m).String())
}

// Data writes itself as canonical JSON. A Data of nil is null. Value can be an [event.Long], which Whole reads.
type Data struct{ Value value.Value }

// Whole returns the value with all its parts.
func (d Data) Whole() (value.Value, error) {
	if l, is := d.Value.(event.Long); is {
		return l.Read()
	}
	return d.Value, nil
}

// Shown is Whole for people: a value that cannot be read is replaced by the reason.
func (d Data) Shown() value.Value {
	v, err := d.Whole()
	if err != nil {
		return "[flowrun: " + err.Error() + "]"
	}
	return v
}

// MarshalJSON implements json.Marshaler.
func (d Data) MarshalJSON() ([]byte, error) {
	v, err := d.Whole()
	if err != nil {
		return nil, err
	}
	return value.Append(nil, v), nil
}

// write gives the JSON of the value in parts: the members of a list or an object one after the other.
func (d Data) write(marshal func(any) ([]byte, error), part func([]byte) error) error {
	m, is := d.Value.(event.Members)
	if !is {
		text, err := marshal(d)
		if err != nil {
			return err
		}
		return part(text)
	}
	member := func(i int, name []byte, v value.Value) error {
		if i > 0 {
			name = append([]byte{','}, name...)
		}
		if err := part(name); err != nil {
			return err
		}
		return Data{v}.write(marshal, part)
	}
	var err error
	end := byte(']')
	switch all := m.Members().(type) {
	case []any:
		err = part([]byte{'['})
		for i := 0; i < len(all) && err == nil; i++ {
			err = member(i, nil, all[i])
		}
	case map[string]any:
		end = '}'
		err = part([]byte{'{'})
		for i, k := range value.Keys(all) {
			var name []byte
			if err == nil {
				name, err = marshal(Data{k})
			}
			if err == nil {
				err = member(i, append(name, ':'), all[k])
			}
		}
	}
	if err != nil {
		return err
	}
	return part([]byte{end})
}

// Document gives the run as it stands.
func (r *Run) Document() Document {
	d := r.head()
	d.Nodes = make([]NodeDoc, 0, r.Size())
	r.Each(func(n *Node, _ int) { d.Nodes = append(d.Nodes, r.document(n)) })
	return d
}

// Encode gives the JSON of the Document, as json.Marshal does. complete may change the document but for its nodes. The text of a node is kept until
// the node changes, so that encoding a run again and again costs little; that of a node that waits for a slot is not, because it begins to
// wait when another one ends.
func (r *Run) Encode(complete func(*Document)) ([]byte, error) {
	d := r.head()
	complete(&d)
	text := make([]byte, 0, r.Size()*nodeSize)
	err := r.write(d, struct{}{}, json.Marshal, func(n *Node) (err error) {
		node, queued := n.text, r.WaitsForSlot(n)
		if node == nil || queued {
			node, err = json.Marshal(r.document(n))
		}
		if !queued {
			n.text = node
		}
		text = append(text, node...)
		return err
	}, func(part []byte) error {
		text = append(text, part...)
		return nil
	})
	return text, err
}

// Write gives the JSON of the Document in parts, so that nobody holds the whole. marshal gives the JSON of a value. complete may change the
// document but for its nodes. The members of the object more follow those of the document.
func (r *Run) Write(complete func(*Document), more any, marshal func(any) ([]byte, error), part func([]byte) error) error {
	d := r.head()
	complete(&d)
	return r.write(d, more, marshal, func(n *Node) error {
		d := r.document(n)
		output := d.Output
		d.Output = Data{}
		text, err := marshal(d)
		if err != nil {
			return err
		}
		before, behind, found := bytes.Cut(text, []byte(noOutput))
		if !found {
			panic("view: the node of a document has no output")
		}
		if err = part(append(before, noOutput[:len(noOutput)-len("null")]...)); err != nil {
			return err
		}
		if err = output.write(marshal, part); err != nil {
			return err
		}
		return part(behind)
	}, part)
}

// noOutput is in the JSON of a node without an output, and in no text of it: there, quotes are escaped.
const noOutput = `"output":null`

// write gives the parts of a document but for the nodes, which node writes.
func (r *Run) write(d Document, more any, marshal func(any) ([]byte, error), node func(*Node) error, part func([]byte) error) error {
	behind := struct {
		Unanswered []TryDoc `json:"unanswered,omitempty"`
	}{d.Unanswered}
	d.Nodes, d.Unanswered = nil, nil
	text, err := marshal(d)
	if err != nil {
		return err
	}
	text, last := bytes.CutSuffix(text, []byte("null}"))
	if !last {
		panic("view: the nodes are not the last field of a document") // those behind them are left out
	}
	err = part(append(text, '['))
	first := true
	r.Each(func(n *Node, _ int) {
		if err == nil && !first {
			err = part([]byte{','})
		}
		if first = false; err == nil {
			err = node(n)
		}
	})
	text = []byte{']'}
	for _, o := range []any{behind, more} {
		if err != nil {
			return err
		}
		var members []byte
		if members, err = marshal(o); len(members) > len("{}") {
			text = append(append(text, ','), members[1:len(members)-1]...)
		}
	}
	if err != nil {
		return err
	}
	return part(append(text, '}'))
}

// nodeSize is about the size of the JSON of a node, in bytes.
const nodeSize = 320

// head is the document without its nodes.
func (r *Run) head() Document {
	d := Document{
		Run: r.ID, Workflow: r.Workflow, Description: r.About, Status: r.Status, Driven: r.Driven,
		StartedAt: Moment(r.StartedAt), FinishedAt: Moment(r.FinishedAt),
		Inputs: Outputs(r.Inputs), Error: r.Error, Warnings: r.Warnings, Parent: r.Parent, ParentNode: r.ParentNode, RetryOf: r.RetryOf, RetriedBy: r.RetriedBy, Targets: r.Targets,
	}
	if !r.Status.Terminal() {
		d.Reason, d.WaitsFor = r.Reason, WaitsForDocument(r.WaitsFor)
	}
	if r.Status.Terminal() {
		d.Outputs = Outputs(r.Outputs)
	}
	if r.Cause != nil {
		d.Cause = r.Cause.Object()
	}
	if r.Usage != nil {
		d.Usage = r.Usage.Object()
	}
	for _, c := range r.Changes {
		d.Changes = append(d.Changes, ChangeDoc{Moment(c.At), c.Node, c.Rule, c.What, Data{c.From}, Data{c.To}, c.Run, c.Why})
	}
	d.Degraded = r.Degraded()
	return d
}

func (r *Run) document(n *Node) NodeDoc {
	d := NodeDoc{ID: n.Path, Item: n.Item, Members: n.Members, Description: r.Description(n), Pattern: n.Pattern, Status: n.Status, Attempts: n.Attempt, Reason: r.Why(n), Child: n.Child, Warnings: n.Warnings,
		ExitCode: -1, StartedAt: Moment(n.StartedAt), FinishedAt: Moment(n.FinishedAt)}
	if c := n.Compensation; c != nil {
		d.Compensation = &CompensationDoc{Status: c.Status, ExitCode: -1}
		if c.Result != nil {
			d.Compensation.ExitCode, d.Compensation.Error = c.Result.ExitCode, c.Result.Error
		}
	}
	d.WaitsFor = WaitsForDocument(n.WaitsFor)
	res := n.Result
	if res == nil {
		return d
	}
	d.Error, d.ExitCode, d.Said = res.Error, res.ExitCode, n.Said()
	d.Tolerated, d.Reused, d.Winner, d.Iterations, d.Partial = res.Tolerated, res.Reused, res.Winner, res.Iterations, res.Partial
	d.Escalated, d.Set, d.By = res.Escalated, res.Set, res.By
	if res.Usage != nil {
		d.Usage = res.Usage.Object()
	}
	if n.Status.Terminal() {
		d.Output = Data{res.Output}
	}
	if res.Agent != "" {
		agent := res.Agent
		d.Agent = &agent
	}
	return d
}

// WaitsForDocument gives what a node waits for; nil if nothing.
func WaitsForDocument(w *event.WaitsFor) *WaitsForDoc {
	if w == nil {
		return nil
	}
	return &WaitsForDoc{w.Kind, w.Name, Moment(w.Until)}
}

// Outputs makes a map of values a value; an absent map is an empty one, not null.
func Outputs(m map[string]value.Value) Data {
	if m == nil {
		m = map[string]value.Value{}
	}
	return Data{map[string]any(m)}
}
