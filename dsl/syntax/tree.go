// Package syntax turns the bytes of a workflow file into blocks and attributes with their places.
//
// It wraps the HCL 2 native syntax and knows nothing of what blocks mean. Before HCL sees a byte, a scan of our own
// refuses what HCL accepts silently or answers with unbounded time or stack: text that is not UTF-8, control and
// direction characters, lines, nesting, numbers and operator chains beyond the bounds in scan.go, merge-conflict marks,
// JSON and YAML. A byte order mark is dropped and CRLF becomes LF, so that a file means the same on every system; byte
// offsets count in the text after that, which is [File.Src].
//
// The same scan cuts the text where the items of bodies end. Plain lines are read here, and HCL gets the rest in small
// pieces (split.go): its parser needs 1.2 GiB for 100,000 steps in one. Findings always come from HCL's view of the whole.
//
// The package imports diag and hcl, and must never import the schema, expressions or the IR. Enter at [Parse].
// What holds always: a file with an error has no tree, so that no later stage reports what follows from a lost brace;
// attributes and blocks stand in file order.
package syntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
)

// File is one parsed file. Src is the text that all byte offsets count in.
type File struct {
	Name string // as the user named it
	Src  []byte
	Body Body

	asked *Attr // whose tree was made last
	tree  hclsyntax.Expression
}

// Body is what stands between braces, or in a file.
type Body struct {
	Attrs  []*Attr
	Blocks []*Block
}

// Attr is name = expression.
type Attr struct {
	File  *File
	Name  string
	Range diag.Range // the name

	expr     hclsyntax.Expression // nil where it is plain
	from, to int32                // where a plain expression stands
}

// Block is kind "label" … { body }.
type Block struct {
	File   *File
	Kind   string
	Range  diag.Range // the kind
	Header diag.Range // from the kind to the last label
	Labels []Label
	Body   Body
	End    int32 // the offset behind its closing brace
}

// Label is a quoted or bare word behind a block's kind.
type Label struct {
	Text  string
	Range diag.Range
}

// Attr returns the attribute of a name, or nil.
func (b *Body) Attr(name string) *Attr {
	for _, a := range b.Attrs {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Range converts a range of HCL.
func Range(r hcl.Range) diag.Range {
	return diag.Range{File: r.Filename, Start: diag.Pos(r.Start), End: diag.Pos(r.End)}
}

// Text returns the source text of an expression.
func (f *File) Text(x hclsyntax.Expression) string {
	r := x.Range()
	return string(f.Src[r.Start.Byte:min(r.End.Byte, len(f.Src))])
}

// Range makes a range of two byte offsets of the file.
func (f *File) Range(start, end int) diag.Range { return place(f.Name, f.Src, start, end) }

// Member makes an attribute of a member of an object that is written out in the file.
func (f *File) Member(name string, at diag.Range, x hclsyntax.Expression) *Attr {
	return &Attr{File: f, Name: name, Range: at, expr: x}
}
