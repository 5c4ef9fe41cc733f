package core

import (
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// declarations finds what the files declare at the top, for what a pattern has to know of it before the check.
type declarations struct {
	files []*syntax.File
	known map[string]map[string]*syntax.Block
	used  map[diag.Range]bool
}

// block returns the first block of a kind and a name at the top of the files, or nil.
func (d *declarations) block(kind, name string) *syntax.Block {
	if d.known == nil {
		d.known = map[string]map[string]*syntax.Block{}
	}
	if d.known[kind] == nil {
		d.known[kind] = map[string]*syntax.Block{}
		for _, f := range d.files {
			for _, b := range f.Body.Blocks {
				if b.Kind == kind && len(b.Labels) > 0 && d.known[kind][b.Labels[0].Text] == nil {
					d.known[kind][b.Labels[0].Text] = b
				}
			}
		}
	}
	return d.known[kind][name]
}
