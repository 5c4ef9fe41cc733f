package syntax

import (
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
)

// MaxSyntaxErrors bounds how many syntax errors of one file are reported: one lost brace can cause thousands.
const MaxSyntaxErrors = 20

// Parse reads one file. With an error in the list the file's body is empty, but Src is set, so that snippets can be shown.
func Parse(name string, data []byte) (*File, diag.List) { return Limits{}.Parse(name, data) }

func parse(name string, data []byte, most Limits) (*File, diag.List) {
	f := &File{Name: name, Src: data}
	src, segments, expansions, list := scan(name, data, most)
	f.Src = src
	if len(expansions) > 0 {
		if found := f.shellText(expansions, most); len(found) > 0 {
			return f, found
		}
	}
	if list.HasErrors() {
		return f, list
	}
	if segments != nil {
		b, end := f.join(segments)
		if end < 0 {
			f.Body = b
			return f, list
		}
		if len(segments) > MaxLinesWhole {
			if found := f.parseFirst(end); len(found) > 0 {
				return f, append(list, found...)
			}
		}
	}
	return f, append(list, f.parseWhole()...)
}

// MaxLinesWhole is how many lines a file may have for all its syntax errors to be found at once. HCL takes 370 MB for
// half a million lines of a single character each.
const MaxLinesWhole = 50000

// parseFirst finds the errors up to a place where there is one. That what is open there does not end is none of them.
func (f *File) parseFirst(end int) (list diag.List) {
	_, problems := hclsyntax.ParseConfig(f.Src[:end], f.Name, hcl.InitialPos)
	for _, p := range problems {
		if d := translate(f, p); d.Code != "F0022" {
			list = keep(list, d)
		}
	}
	return f.outsideScalars(list)
}

// parseWhole has HCL parse the file in one. All findings come from here.
func (f *File) parseWhole() (list diag.List) {
	tree, problems := hclsyntax.ParseConfig(f.Src, f.Name, hcl.InitialPos)
	for _, p := range problems {
		list = keep(list, translate(f, p))
	}
	list = f.outsideScalars(list)
	if !list.HasErrors() {
		f.Body = f.body(tree.Body.(*hclsyntax.Body))
	}
	return list
}

func (f *File) body(b *hclsyntax.Body) Body {
	out := Body{Attrs: make([]*Attr, 0, len(b.Attributes)), Blocks: make([]*Block, 0, len(b.Blocks))}
	for _, a := range b.Attributes { // any order: sorted below
		out.Attrs = append(out.Attrs, &Attr{File: f, Name: a.Name, Range: Range(a.NameRange), expr: a.Expr})
	}
	sort.Slice(out.Attrs, func(i, j int) bool { return out.Attrs[i].Range.Start.Byte < out.Attrs[j].Range.Start.Byte })
	for _, c := range b.Blocks {
		out.Blocks = append(out.Blocks, f.block(c))
	}
	return out
}

func (f *File) block(b *hclsyntax.Block) *Block {
	out := &Block{File: f, Kind: b.Type, Range: Range(b.TypeRange), Body: f.body(b.Body), End: int32(b.CloseBraceRange.End.Byte)}
	out.Header = out.Range
	for i, l := range b.Labels {
		r := Range(b.LabelRanges[i])
		out.Labels = append(out.Labels, Label{Text: l, Range: r})
		out.Header.End = r.End
	}
	return out
}
