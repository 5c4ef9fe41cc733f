package machine

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/snapshot"
)

// Long results. The long parts of an answer lie beside the journal (see package artifact). The machine
// keeps the answer as the journal has it: the streams of a node are then those of the journal and
// streams.long, and the output of a node, or of a group of such nodes, is an event.Long. An expression
// reads the part back: the hash of the reference decides what is read, so the machine stays a function
// of its events. Whatever is read last stays in memory, up to maxRead values.

// maxRead is how many outputs, and how many answers, stay in memory after they were read.
const maxRead = 8

// readBack holds what was read last.
type readBack struct {
	outputs, answers recent
}

// recent is a list of values by what they were read from.
type recent struct {
	of    [maxRead]any
	value [maxRead]any
	next  int
}

func (l *recent) find(of any) any {
	if i := slices.Index(l.of[:], of); i >= 0 {
		return l.value[i]
	}
	return nil
}

func (l *recent) add(of, v any) {
	l.of[l.next], l.value[l.next] = of, v
	l.next = (l.next + 1) % maxRead
}

// longOutput is the output of a node that lies beside the journal. It implements event.Long.
type longOutput struct {
	answer *event.AttemptFinished // as the journal has it
	graph  *plan.Graph
	node   int
	agent  *ir.Agent
}

// Read implements event.Long.
func (o *longOutput) Read() (value.Value, error) {
	f, err := o.answer.Whole()
	if err != nil {
		return nil, err
	}
	return o.of(f)
}

func (o *longOutput) of(f *event.AttemptFinished) (value.Value, error) {
	n := &o.graph.Nodes[o.node]
	v, problem := compose.ParseOutput(n.Action, f)
	if problem == nil {
		v, problem = compose.ConvertOutput(v, compose.OutputType(n, o.agent))
	}
	if problem != nil {
		return nil, fmt.Errorf("%s: %s", f.Node, problem.Message)
	}
	return v, nil
}

// longList is a list or an object with members that are an event.Long. It implements event.Members.
type longList struct{ members value.Value }

// keepTogether returns a list or an object of which a member can be an event.Long as the machine keeps it.
func keepTogether(v value.Value) value.Value {
	isLong := func(v any) bool {
		_, is := v.(event.Long)
		return is
	}
	switch v := v.(type) {
	case []any:
		if slices.ContainsFunc(v, isLong) {
			return &longList{v}
		}
	case map[string]any:
		for _, e := range v { // any order: one is enough
			if isLong(e) {
				return &longList{v}
			}
		}
	}
	return v
}

// Members implements event.Members.
func (l *longList) Members() value.Value { return l.members }

// Read implements event.Long.
func (l *longList) Read() (value.Value, error) {
	switch list := l.members.(type) {
	case []any:
		out := make([]any, len(list))
		for i, e := range list {
			v, err := whole(e)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	default:
		object := list.(map[string]any)
		out := make(map[string]any, len(object))
		for k, e := range object { // any order: each fills its own
			v, err := whole(e)
			if err != nil {
				return nil, err
			}
			out[k] = v
		}
		return out, nil
	}
}

// member returns the member at a key; ok is false if there is none, or if the key is no simple one.
func (l *longList) member(key value.Value) (v value.Value, ok bool) {
	switch key := key.(type) {
	case float64:
		list, _ := l.members.([]any)
		if i := int(key); float64(i) == key && i >= 0 && i < len(list) {
			return list[i], true
		}
	case string:
		object, _ := l.members.(map[string]any)
		v, ok = object[key]
	}
	return v, ok
}

// whole returns a value with all its parts.
func whole(v value.Value) (value.Value, error) {
	if l, is := v.(event.Long); is {
		return l.Read()
	}
	return v, nil
}

// resolve returns an output with all its parts.
func (m *Machine) resolve(v value.Value) value.Value {
	l, is := v.(event.Long)
	if !is {
		return v
	}
	if v := m.read.outputs.find(l); v != nil {
		return v
	}
	if o, is := l.(*longOutput); is {
		f := m.wholeAnswer(o.answer)
		if f == nil {
			return nil
		}
		var err error
		v, err = o.of(f)
		m.note(err)
	} else {
		v = m.readAnew(l)
	}
	m.read.outputs.add(l, v)
	return v
}

// readAnew is resolve for a value that the caller may change.
func (m *Machine) readAnew(v value.Value) value.Value {
	v, err := whole(v)
	m.note(err)
	return v
}

// wholeAnswer returns an answer with all its parts; nil if they cannot be read.
func (m *Machine) wholeAnswer(short *event.AttemptFinished) *event.AttemptFinished {
	if f := m.read.answers.find(short); f != nil {
		return f.(*event.AttemptFinished)
	}
	f, err := short.Whole()
	m.note(err)
	if err == nil {
		m.read.answers.add(short, f)
	}
	return f
}

// note notes that a part of a result could not be read: what the machine has computed since is worth
// nothing.
func (m *Machine) note(err error) {
	if m.broken == nil {
		m.broken = err
	}
}

// Broken returns why a part of a result could not be read, or nil. The machine is unusable after an
// error.
func (m *Machine) Broken() error { return m.broken }

// streamsOf returns the streams of an answer as the machine keeps them.
func (m *Machine) streamsOf(f *event.AttemptFinished) streams {
	if s := f.Short; s != nil && max(len(f.Stdout), len(f.Stderr)) <= limits.MaxStream {
		m.read.answers.add(s, f)
		return streams{s.Stdout, s.Stderr, f.StdoutLog, f.StderrLog, s}
	}
	stdout, stderr := f.Streams()
	return streams{stdout, stderr, f.StdoutLog, f.StderrLog, nil}
}

// wholeStreams returns the streams of a node with all their parts.
func (m *Machine) wholeStreams(s streams) streams {
	if s.long != nil {
		if f := m.wholeAnswer(s.long); f != nil {
			s.stdout, s.stderr = f.Stdout, f.Stderr
		}
		s.long = nil
	}
	return s
}

// convertOutput converts a node's new output to its declared type. f is the answer that has the
// output; nil if no answer has.
func (m *Machine) convertOutput(r ref, f *event.AttemptFinished) *event.Error {
	d, n, agent := m.liveState(r), m.node(r), m.agentOf(r)
	t := compose.OutputType(n, agent)
	if _, is := d.output.(event.Long); is && t == nil {
		return nil
	}
	output, err := compose.ConvertOutput(m.resolve(d.output), t)
	if err != nil {
		return err
	}
	d.output = output
	if f != nil && f.Short != nil && output != nil && lacksOutput(f) {
		o := &longOutput{f.Short, m.graph, r.node, agent}
		m.read.outputs.add(o, output)
		d.output = o
	}
	return nil
}

// lacksOutput reports whether an answer has its output beside the journal.
func lacksOutput(f *event.AttemptFinished) bool {
	if f.Output != nil {
		return f.Short.Output == nil
	}
	return f.Stdout != f.Short.Stdout
}

// source reads the artifacts of a restored machine.
type source struct{ from event.Artifacts }

// Load implements event.Artifacts.
func (s *source) Load(a *event.Artifact) (*event.Parts, error) {
	if s.from == nil {
		return nil, fmt.Errorf("the artifact %.12s lies in another store", a.Hash)
	}
	return s.from.Load(a)
}

// Bind says where the artifacts of a restored machine lie.
func (m *Machine) Bind(from event.Artifacts) {
	if m.from != nil {
		m.from.from = from
	}
}

// longAnswer codes an answer as the journal has it.
func (c *coder) longAnswer(p **event.AttemptFinished) {
	snapshot.Owned(c.Coder, p, snapshot.PlainOf[event.AttemptFinished](c.Coder))
	if c.Reading() && *p != nil && (*p).Artifact != nil {
		if c.m.from == nil {
			c.m.from = &source{}
		}
		(*p).Artifact.From = c.m.from
	}
}

// The forms of an output in a state.
const (
	plainOutput = iota
	ownOutput
	listOutput
	objectOutput
)

// output codes an output.
func (c *coder) output(v *value.Value) {
	s, form := c.Coder, plainOutput
	var own *longOutput
	var list []any
	var object map[string]any
	switch l := (*v).(type) {
	case *longOutput:
		form, own = ownOutput, l
	case *longList:
		if list, _ = l.members.([]any); list != nil {
			form = listOutput
		} else {
			form, object = objectOutput, l.members.(map[string]any)
		}
	}
	snapshot.Int(s, &form)
	switch form {
	case plainOutput:
		c.Value(v)
	case ownOutput:
		if own == nil {
			own = &longOutput{graph: c.m.graph}
		}
		c.longAnswer(&own.answer)
		snapshot.Int(s, &own.node)
		c.agent(&own.agent)
		if own.answer == nil || own.node < 0 || own.node >= len(c.m.graph.Nodes) {
			c.Fail(snapshot.ErrBroken)
		}
		*v = own
	case listOutput:
		snapshot.List(s, &list, c.output)
		*v = &longList{list}
	case objectOutput:
		snapshot.Map(s, &object, c.text, c.output)
		*v = &longList{object}
	default:
		c.Fail(snapshot.ErrBroken)
	}
}
