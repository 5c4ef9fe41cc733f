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
)

// Change is a difference of two programs. Name is a node by its path in the file (group/step), a declaration such as "agent coder", or "" for
// the workflow itself. Parts are the attributes that differ, sorted; they are empty unless What is [Altered].
type Change struct {
	Name  string   `json:"name"`
	What  string   `json:"what"`
	Parts []string `json:"parts,omitempty"`
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
	old, now := describe(a, v), describe(b, w)
	d := Difference{Nodes: compareAll(old.nodes, now.nodes), Declarations: compareAll(old.declared, now.declared)}
	d.Same = len(d.Nodes)+len(d.Declarations) == 0
	return d
}

// described is a program as a comparison sees it: JSON by names, in the order of the file.
type described struct{ nodes, declared []part }

type part struct {
	name string
	body map[string]json.RawMessage
}

func describe(p *Program, workflow string) (d described) {
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
				if body := fields(w); textOf(body["name"]) == workflow {
					d.nodes = describeNodes(d.nodes, "", body["nodes"])
					d.nodes = describeNodes(d.nodes, "", fields(body["finally"])["nodes"])
					delete(body, "nodes")
					body["finally"] = without(body["finally"], "nodes")
					d.declared = append(d.declared, part{"", body})
				}
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
	list, before := []Change{}, map[string]map[string]json.RawMessage{}
	for _, p := range old {
		before[p.name] = p.body
	}
	for _, p := range now {
		was, known := before[p.name]
		delete(before, p.name)
		if !known {
			list = append(list, Change{Name: p.name, What: Added})
		} else if parts := compareFields(was, p.body); len(parts) > 0 {
			list = append(list, Change{p.name, Altered, parts})
		}
	}
	for _, p := range old {
		if _, left := before[p.name]; left {
			delete(before, p.name)
			list = append(list, Change{Name: p.name, What: Removed})
		}
	}
	return list
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
