package flowtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// missingStub tells of an attempt that has no stub, once for each node and gate.
func (t *test) missingStub(a *event.Attempt) {
	at := t.where(a.Run, a.Node)
	step := t.stubName(&at)
	kind, name, reply := ir.StepStub, step, ""
	switch {
	case a.Gate != "" && a.Agent != nil:
		kind, name, reply = ir.AgentStub, a.Agent.Name, "{ output = "+sampleReview(a.Agent.With)+" }"
	case a.Gate != "":
		kind, name, reply = ir.GateStub, gateOf(a.Gate), "{ exit_code = 0 }"
		if t.ownGates(name) {
			name = step + "/" + name
		}
	case a.Compensate:
		name, reply = step+"/compensate", "{ exit_code = 0 }"
	case a.Agent != nil:
		kind, name, reply = ir.AgentStub, a.Agent.Name, "{ output = "+t.sampleOf(at.name, a)+" }"
	case a.HTTP != nil:
		reply = "{ status = 200, output = {} }"
	case a.Parse == string(ir.ParseJSON) || a.Parse == string(ir.ParseLines) || a.OutputFile:
		reply = "{ output = " + t.sampleOf(at.name, a) + " }"
	default:
		reply = `{ stdout = "" }`
	}
	if t.missing[string(kind)+name] {
		return
	}
	t.missing[string(kind)+name] = true
	text := at.instance
	if a.Gate != "" {
		text += "/" + gateOf(a.Gate)
	}
	t.fail(Failure{Kind: NoStub, At: t.At, Text: text, After: t.elapsed(), Block: fmt.Sprintf("%s %q {\n  replies = [%s]\n}", kind, name, reply)})
}

// stubName is the path by which a stub can name a node: behind the label, on:WORKFLOW or item:WORKFLOW of its run only if another workflow of
// the test could have a node of the shorter path.
func (t *test) stubName(at *spot) string {
	home := strings.TrimSuffix(at.path, at.own)
	if strings.HasPrefix(home, triggered) || strings.HasPrefix(home, forItems) {
		return at.path
	}
	first := t.Workflow
	for i := range t.Moments {
		r := t.Moments[i].Run
		switch {
		case r == nil:
		case first == "":
			first = r.Workflow
		case r.Workflow != first:
			return at.path
		}
	}
	return at.own
}

// ownGates reports whether a gate of a name stands in a step, so that a stub has to name the step.
func (t *test) ownGates(name string) bool {
	return slices.ContainsFunc(t.program.Gates, func(g ir.Gate) bool { return g.Name != name && gateOf(g.Name) == name })
}

// sampleOf is an output of the type that a step, or its agent, declares.
func (t *test) sampleOf(name string, a *event.Attempt) string {
	typ := t.typeOf(name, a)
	if typ.IsAny() && a.Parse == string(ir.ParseLines) {
		return `[""]`
	}
	return sample(typ, 0)
}

// typeOf is the type of the output that a step, or its agent, declares.
func (t *test) typeOf(name string, a *event.Attempt) value.Type {
	typ := value.AnyType
	for i := range t.program.Agents {
		if g := &t.program.Agents[i]; a.Agent != nil && g.Name == a.Agent.Name && g.Output != nil {
			typ = *g.Output
		}
	}
	if g, err := t.program.graph(a.Workflow); err == nil {
		if n := g.Number(name); n >= 0 && g.Nodes[n].Output != nil {
			typ = *g.Nodes[n].Output
		}
	}
	return typ
}

// sampleReview is an answer of a judge that passes.
func sampleReview(with value.Value) string {
	var scores []string
	if request, ok := with.(map[string]value.Value); ok {
		criteria, _ := request["criteria"].(map[string]value.Value)
		for _, name := range slices.Sorted(maps.Keys(criteria)) {
			scores = append(scores, fmt.Sprintf("%s = 1", name))
		}
	}
	if scores == nil {
		return "{ findings = [] }"
	}
	return "{ scores = { " + strings.Join(scores, ", ") + " }, findings = [] }"
}

// maxSample bounds how deep a sample goes.
const maxSample = 4

// sample is a value of a type, as a file has it.
func sample(t value.Type, depth int) string {
	switch {
	case len(t.Enum) > 0:
		return fmt.Sprintf("%q", t.Enum[0])
	case depth > maxSample:
		return "null"
	}
	switch t.Kind {
	case value.Bool:
		return "true"
	case value.NumberT:
		return "1"
	case value.ListT, value.SetT:
		return "[" + sample(*t.Elem, depth+1) + "]"
	case value.MapT:
		return "{ key = " + sample(*t.Elem, depth+1) + " }"
	case value.TupleT:
		var parts []string
		for _, e := range t.Elems {
			parts = append(parts, sample(e, depth+1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case value.ObjectT:
		var parts []string
		for _, name := range t.Names() {
			if !t.Attrs[name].Optional {
				parts = append(parts, name+" = "+sample(t.Attrs[name], depth+1))
			}
		}
		if parts == nil {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case value.Any, value.Null, value.StringT, "":
	}
	return `"text"`
}
