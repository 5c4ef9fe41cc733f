package ir

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// The kinds of a [Change].
const (
	Added   = "added"
	Removed = "removed"
	Altered = "changed"
	Renamed = "renamed"
)

// Change is a difference of two programs. Name is a node by its path in the file (group/step), an input or output of the workflow or another
// declaration such as "agent coder", or "" for the workflow itself. Parts are the attributes that differ, sorted; they are empty unless What is
// [Altered]. From is the old name if What is [Renamed]: the only one that was removed with the body that only this new name has. [ComparePrograms]
// gives Values, too.
type Change struct {
	Name   string        `json:"name"`
	What   string        `json:"what"`
	Parts  []string      `json:"parts,omitempty"`
	Values []ValueChange `json:"values,omitempty"`
	From   string        `json:"from,omitempty"`
}

// Difference is what one workflow differs in, of two programs.
type Difference struct {
	Same         bool     `json:"same"`         // the programs are equal as far as a run can tell: comments and layout do not count
	Nodes        []Change `json:"nodes"`        // in the order of the newer file, the removed ones last
	Declarations []Change `json:"declarations"` // of the workflow and of what is declared beside it
}

// Compare says how workflow w of program b differs from workflow v of program a. A program that is nil, or that has no such workflow, counts
// as empty.
func Compare(a *Program, v string, b *Program, w string) Difference {
	old, now := describe(a), describe(b)
	d := compareWorkflows(old.workflows[v], now.workflows[w])
	d.Declarations = append(d.Declarations, compareAll(old.declared, now.declared)...)
	d.Same = d.Same && len(d.Declarations) == 0
	return d
}

// ComparePrograms says how each workflow of program b differs from the workflow of its name of program a, and, in declared, how all that is
// declared beside workflows differs. Workflows has the names of both programs. A program that is nil counts as empty.
func ComparePrograms(a, b *Program) (workflows map[string]Difference, declared []Change) {
	old, now := describe(a), describe(b)
	workflows = map[string]Difference{}
	for _, side := range []map[string]*workflowParts{old.workflows, now.workflows} {
		for name := range side { // any order: it fills a map
			workflows[name] = compareWorkflows(old.workflows[name], now.workflows[name])
		}
	}
	for name, d := range workflows { // any order: each on its own
		o, n := cmp.Or(old.workflows[name], &workflowParts{}), cmp.Or(now.workflows[name], &workflowParts{})
		addValues(d.Nodes, o.nodes, n.nodes)
		addValues(d.Declarations, o.own, n.own)
	}
	declared = compareAll(old.declared, now.declared)
	addValues(declared, old.declared, now.declared)
	return workflows, declared
}

func compareWorkflows(old, now *workflowParts) Difference {
	if old == nil {
		old = &workflowParts{}
	}
	if now == nil {
		now = &workflowParts{}
	}
	d := Difference{Nodes: compareAll(old.nodes, now.nodes), Declarations: compareAll(old.own, now.own)}
	d.Same = len(d.Nodes)+len(d.Declarations) == 0
	return d
}

// described is a program as a comparison sees it: JSON by names, in the order of the file.
type described struct {
	workflows map[string]*workflowParts
	declared  []part
}

// workflowParts are the nodes of a workflow, and what is its own besides: the workflow itself, its inputs and its outputs.
type workflowParts struct{ nodes, own []part }

type part struct {
	name string
	body map[string]json.RawMessage
}

func describe(p *Program) (d described) {
	d.workflows = map[string]*workflowParts{}
	if p == nil {
		return d
	}
	sections := fields(p.Canonical())
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		word, text := strings.TrimSuffix(section, "s"), sections[section]
		var list []json.RawMessage
		switch {
		case section == "workflows":
			_ = json.Unmarshal(text, &list)
			for _, w := range list {
				body := fields(w)
				d.workflows[textOf(body["name"])] = describeWorkflow(body)
			}
		case json.Unmarshal(text, &list) == nil:
			for _, one := range list {
				body := fields(one)
				d.declared = append(d.declared, part{word + " " + cmp.Or(textOf(body["name"]), textOf(body["event"])), body})
			}
		case section == "files":
			for path, body := range fields(text) { // any order: sorted below
				d.declared = append(d.declared, part{word + " " + path, map[string]json.RawMessage{"text": body}})
			}
		default:
			d.declared = append(d.declared, part{section, fields(text)})
		}
	}
	slices.SortStableFunc(d.declared, func(x, y part) int { return cmp.Compare(x.name, y.name) })
	return d
}

func describeWorkflow(body map[string]json.RawMessage) *workflowParts {
	w := &workflowParts{own: []part{{"", body}}}
	w.nodes = describeNodes(w.nodes, "", body["nodes"])
	w.nodes = describeNodes(w.nodes, "", fields(body["finally"])["nodes"])
	body["finally"] = without(body["finally"], "nodes")
	for _, section := range []string{"inputs", "outputs"} {
		var list []json.RawMessage
		_ = json.Unmarshal(body[section], &list) // a workflow without them has none
		for _, one := range list {
			declared := fields(one)
			w.own = append(w.own, part{strings.TrimSuffix(section, "s") + " " + textOf(declared["name"]), declared})
		}
		delete(body, section)
	}
	delete(body, "nodes")
	return w
}

func describeNodes(to []part, above string, text json.RawMessage) []part {
	var list []json.RawMessage
	_ = json.Unmarshal(text, &list) // a node without children has none
	for _, one := range list {
		body := fields(one)
		path := above + textOf(body["name"])
		children := body["children"]
		delete(body, "children")
		to = append(to, part{path, body})
		to = describeNodes(to, path+"/", children)
	}
	return to
}

// fields are the members of an object; nil of anything else.
func fields(text json.RawMessage) (m map[string]json.RawMessage) {
	_ = json.Unmarshal(text, &m)
	return m
}

func textOf(text json.RawMessage) (s string) {
	_ = json.Unmarshal(text, &s)
	return s
}

// without is an object without a member.
func without(text json.RawMessage, name string) json.RawMessage {
	m := fields(text)
	delete(m, name)
	out, _ := json.Marshal(m) // a map of JSON
	return out
}

func compareAll(old, now []part) []Change {
	list, before, after := []Change{}, map[string]part{}, map[string]bool{}
	for _, p := range old {
		before[p.name] = p
	}
	for _, p := range now {
		after[p.name] = true
	}
	isAdded := func(p part) bool { _, known := before[p.name]; return !known }
	isRemoved := func(p part) bool { return !after[p.name] }
	removed, added := onlyBodies(old, isRemoved), onlyBodies(now, isAdded)
	told := map[string]bool{} // old names
	for _, p := range now {
		if !isAdded(p) {
			if parts := compareFields(before[p.name].body, p.body); len(parts) > 0 {
				list = append(list, Change{Name: p.name, What: Altered, Parts: parts})
			}
			continue
		}
		change := Change{Name: p.name, What: Added}
		if body := p.withoutName(); added[body] == p.name && removed[body] != "" {
			change.What, change.From = Renamed, removed[body]
			told[change.From] = true
		}
		list = append(list, change)
	}
	for _, p := range old {
		if isRemoved(p) && !told[p.name] {
			told[p.name] = true
			list = append(list, Change{Name: p.name, What: Removed})
		}
	}
	return list
}

// withoutName is the kind of a part, and its body as JSON without its name.
func (p part) withoutName() string {
	kind, _, declared := strings.Cut(p.name, " ")
	if !declared {
		kind = "" // a node, whose body has its kind
	}
	body := maps.Clone(p.body)
	delete(body, "name")
	text, _ := json.Marshal(body) // a map of JSON, in the order of its keys
	return kind + " " + string(text)
}

// onlyBodies are the names of the chosen parts by their bodies; "" for a body that several have.
func onlyBodies(list []part, chosen func(part) bool) map[string]string {
	names := map[string]string{}
	for _, p := range list {
		if !chosen(p) {
			continue
		}
		body := p.withoutName()
		if _, twice := names[body]; twice {
			names[body] = ""
		} else {
			names[body] = p.name
		}
	}
	return names
}

func compareFields(a, b map[string]json.RawMessage) (parts []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !bytes.Equal(a[name], b[name]) {
			parts = append(parts, name)
		}
	}
	return parts
}
