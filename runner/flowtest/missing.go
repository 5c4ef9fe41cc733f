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

// missingStub tells of an attempt that has no stub, once for each node and gate. It returns the reply of the block that the failure prints: with
// it the run goes on, so that one run of the test finds all stubs that are missing.
func (t *test) missingStub(a *event.Attempt) *ir.Reply {
	at := t.where(a.Run, a.Node)
	step := t.stubName(&at)
	kind, name, status, attr := ir.StepStub, step, "", "stdout"
	var answer value.Value = ""
	switch {
	case a.Gate != "" && a.Agent != nil:
		kind, name, attr, answer = ir.AgentStub, a.Agent.Name, "output", sampleReview(a.Agent.With)
	case a.Gate != "":
		kind, name, attr, answer = ir.GateStub, gateOf(a.Gate), "exit_code", 0.0
		if t.ownGates(name) {
			name = step + "/" + name
		}
		if a.Benchmark != nil {
			attr, answer = "measured", []any{1.0}
		}
	case a.Compensate:
		name, attr, answer = step+"/compensate", "exit_code", 0.0
	case a.Agent != nil:
		kind, name, attr, answer = ir.AgentStub, a.Agent.Name, "output", t.sampleOf(at.name, a)
	case a.HTTP != nil:
		status, attr, answer = "status = 200, ", "output", map[string]any{}
	case a.Parse == string(ir.ParseJSON) || a.Parse == string(ir.ParseLines) || a.OutputFile:
		attr, answer = "output", t.sampleOf(at.name, a)
	}
	e := &ir.Expr{Kind: ir.Const, Const: answer}
	reply := map[string]*ir.Reply{"stdout": {Stdout: e}, "output": {Output: e}, "exit_code": {ExitCode: e}, "measured": {Measured: e}}[attr]
	if t.missing[string(kind)+name] {
		return reply
	}
	t.missing[string(kind)+name] = true
	text := at.instance
	if a.Gate != "" {
		text += "/" + gateOf(a.Gate)
	}
	t.fail(Failure{Kind: NoStub, At: t.At, Text: text, After: t.elapsed(),
		Block: fmt.Sprintf("%s %q {\n  replies = [{ %s%s = %s }]\n}", kind, name, status, attr, written(answer))})
	return reply
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
func (t *test) sampleOf(name string, a *event.Attempt) value.Value {
	typ := t.typeOf(name, a)
	if typ.IsAny() && a.Parse == string(ir.ParseLines) {
		return []any{""}
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
func sampleReview(with value.Value) value.Value {
	scores := map[string]value.Value{}
	if request, ok := with.(map[string]value.Value); ok {
		criteria, _ := request["criteria"].(map[string]value.Value)
		for name := range criteria { // any order: they go into a map
			scores[name] = 1.0
		}
	}
	if len(scores) == 0 {
		return map[string]value.Value{"findings": []any{}}
	}
	return map[string]value.Value{"scores": scores, "findings": []any{}}
}

// maxSample bounds how deep a sample goes.
const maxSample = 4

// sample is a value of a type.
func sample(t value.Type, depth int) value.Value {
	switch {
	case len(t.Enum) > 0:
		return t.Enum[0]
	case depth > maxSample:
		return nil
	}
	switch t.Kind {
	case value.Bool:
		return true
	case value.NumberT:
		return 1.0
	case value.ListT, value.SetT:
		return []any{sample(*t.Elem, depth+1)}
	case value.MapT:
		return map[string]value.Value{"key": sample(*t.Elem, depth+1)}
	case value.TupleT:
		list := []any{}
		for _, e := range t.Elems {
			list = append(list, sample(e, depth+1))
		}
		return list
	case value.ObjectT:
		object := map[string]value.Value{}
		for _, name := range t.Names() {
			if !t.Attrs[name].Optional {
				object[name] = sample(t.Attrs[name], depth+1)
			}
		}
		return object
	case value.Any, value.Null, value.StringT, "":
	}
	return "text"
}

// written is a sample as a file has it.
func written(v value.Value) string {
	var parts []string
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%q", v)
	case []any:
		for _, e := range v {
			parts = append(parts, written(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]value.Value:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+" = "+written(v[name]))
		}
		if parts == nil {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return value.Text(v)
}
