package check

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// refused says why n cannot refer to another node, or nil.
func refused(n, to *Node) *diag.Diagnostic {
	switch {
	case to == n:
		return &diag.Diagnostic{Code: "F0221", Summary: fmt.Sprintf("%s refers to itself", upper(n.Words())),
			Detail: "A node has no result before it has ended. A gate, and the until of a repeat, read its result as result; the next attempt reads the error of this one as error."}
	case to.holds(n):
		return &diag.Diagnostic{Code: "F0222", Summary: fmt.Sprintf("%s refers to the group around it", upper(n.Words())),
			Detail: fmt.Sprintf("%s ends after all nodes inside it. Refer to one of these nodes.", upper(to.Words()))}
	case n.holds(to):
		return &diag.Diagnostic{Code: "F0223", Summary: fmt.Sprintf("%s refers to a node inside it", upper(n.Words())),
			Detail: "A group begins before the nodes inside it. Put the dependency into the inner node."}
	}
	for p := to.Parent; p != nil; p = p.Parent {
		if p.repeats() && p != n && !p.holds(n) {
			return &diag.Diagnostic{Code: "F0260", Summary: fmt.Sprintf("Node %q exists once for each iteration of %q", to.Name, p.Name),
				Detail: fmt.Sprintf("It is available only inside %s, which can run several times. From outside, read the group: step.%s.output has the outputs of its last iteration.", p.Words(), p.Name)}
		}
		if p.attr("for_each") != nil && p != n && !p.holds(n) {
			return &diag.Diagnostic{Code: "F0224", Summary: fmt.Sprintf("Node %q exists once for each instance of %q", to.Name, p.Name),
				Detail: fmt.Sprintf("It is available only inside %s, which has a for_each. From outside, read the group: step.%s.output has the outputs of all instances.", p.Words(), p.Name)}
		}
	}
	return nil
}

// holds tells whether n lies inside g.
func (g *Node) holds(n *Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p == g {
			return true
		}
	}
	return false
}

// unknown reports a node that depends_on names and nothing declares.
func (c *checker) unknown(w *Workflow, n *Node, name string, at diag.Range) {
	d := diag.Diagnostic{Code: "F0302", Subject: at, Context: n.Words(), Summary: fmt.Sprintf("Unknown step %q", name),
		Detail: fmt.Sprintf("Workflow %q has no node of this name.", w.Name)}
	if near := c.nearestOf(name, func() []string { return w.names }); near != "" {
		d.Detail += fmt.Sprintf(" Did you mean %q?", near)
		d.Notes = []diag.Note{{Text: fmt.Sprintf("%q is declared here", near), Range: nameRange(w.ByName[near].Block)}}
		d.Edit = &diag.Edit{Range: at, Text: "step." + near}
	} else if len(w.names) > 0 && len(w.names) <= 8 {
		d.Detail += fmt.Sprintf(" There are %s.", strings.Join(w.names, ", "))
	}
	c.report(d)
}

// locate finds where an expression's text first names a node: the whole expression if it cannot be found.
func (a *Attr) locate(name string) diag.Range {
	r := a.Src.Span()
	p := a.parts()
	if p.named == nil {
		p.named = map[string]diag.Range{}
		src := a.Src.File.Src[:min(r.End.Byte, len(a.Src.File.Src))]
		for at := r.Start.Byte; ; {
			i := bytes.Index(src[at:], []byte("step"))
			if i < 0 {
				break
			}
			at += i + len("step")
			start := at
			for _, opening := range []string{".", `["`, `[\"`, "['"} {
				if bytes.HasPrefix(src[at:], []byte(opening)) {
					start += len(opening)
					break
				}
			}
			end := start
			for end < len(src) && wordByte(src[end]) {
				end++
			}
			if named := string(src[start:end]); start > at && p.named[named] == (diag.Range{}) {
				p.named[named] = a.Src.File.Range(start, end)
			}
		}
	}
	if at, ok := p.named[name]; ok {
		return at
	}
	return r
}

func wordByte(b byte) bool {
	return b == '_' || b == '-' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}
