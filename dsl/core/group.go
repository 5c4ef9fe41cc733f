package core

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
)

// group begins the group that the pattern becomes, with the blocks of the pattern and all of its attributes but its own.
func (p *pattern) group(kind, name string, own ...string) {
	p.say("%s %q {\n", kind, name)
	for _, src := range p.Src.Body.Attrs {
		if a := p.Attrs[src.Name]; a != nil && !slices.Contains(own, src.Name) {
			p.attr(src.Name, a, nil)
		}
	}
	for _, b := range p.Src.Body.Blocks {
		p.copy(b.Range.Start.Byte, int(b.End))
		p.say("\n")
	}
}

// node enters a node that the pattern is made of, and returns its name. shown has a %s for the pattern; alias is the name of its result
// in expressions of the pattern.
func (p *pattern) node(role, shown, alias string) string {
	name := p.name(role)
	block := diag.Range{File: p.Src.Range.File, Start: p.Src.Range.Start, End: diag.Pos{Byte: int(p.Src.End)}}
	if _, there := p.made[name]; !there { // workflows can have nodes of the same names
		p.made[name] = made{node: name, shown: fmt.Sprintf(shown, p.Words()), alias: alias, block: block}
	}
	return name
}

// siblings are the names for what attributes read of what stands around the pattern, where they go one group further in: previous is
// the sibling before the pattern.
func (p *pattern) siblings(attrs ...string) map[string]string {
	if p.before != "" {
		return map[string]string{"previous": "step." + p.before}
	}
	for _, name := range attrs {
		a := p.Attrs[name]
		if a == nil {
			continue
		}
		for _, m := range expr.Mentions(a.Src.Expr(), a.Src.File.Src, false, []string{"previous"}) {
			p.report(diag.Diagnostic{Code: "F0343", Subject: a.Src.File.Range(m.Start, m.End), Context: p.Words(), Summary: fmt.Sprintf("%s has no node before it", capital(p.Words())),
				Detail: "previous is the result of the previous node in a sequence. Read a node by its name:  step.NAME.output."})
		}
	}
	return nil
}
