package syntax

import (
	"bytes"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// PieceBytes is how much of a file HCL's parser gets at once. All tokens of a text lie in one slice while it is parsed,
// 96 bytes for each, which a large file copies and scans again and again.
const PieceBytes = 4 << 10

// piece is a part of a body, from the beginning of a line to the end of one, with nothing open at either. A block that
// is too large for a piece has its inside parsed in pieces of their own, between a head, which ends with the line of the
// opening brace, and a tail, which begins with the line of the closing one.
type piece struct {
	start, end int
	head, tail int // the end and the start of them; zero where the piece is parsed as it is
	inner      []piece
}

// body is what the scanner notes of the file, or of a block, while it is open.
type body struct {
	open   bool    // its first line has ended
	head   int     // end of that line
	from   int     // where the piece begins that is being gathered
	line   int     // where the line begins that is being read
	pieces []piece // those before from
	held   *piece  // a large block that has closed, and whose line has not ended
	doubt  bool    // two such on a line: it is parsed in one piece
}

// newline may end a piece: outside of brackets and text, each item of a body ends with its line.
func (s *scanner) newline() {
	b := s.top().body
	if b == nil {
		return
	}
	at := s.i + 1
	switch {
	case !b.open:
		b.open, b.head, b.from = true, at, at
	case b.held != nil:
		b.flush(at)
	case at-b.from >= s.piece:
		b.pieces = append(b.pieces, piece{start: b.from, end: at})
		b.from = at
	}
	b.line = at
}

// flush ends the piece that is a large block.
func (b *body) flush(at int) {
	b.held.end = at
	b.pieces = append(b.pieces, *b.held)
	b.held, b.from = nil, at
}

// blockEnds notes a block whose closing brace has come. Where it has pieces, it becomes one of the body around it.
func (s *scanner) blockEnds(b, around *body) {
	if around == nil || len(b.pieces) == 0 || b.doubt {
		return
	}
	if around.held != nil || b.held != nil {
		around.doubt = true
		return
	}
	if b.from < b.line {
		b.pieces = append(b.pieces, piece{start: b.from, end: b.line})
	}
	if around.from < around.line {
		around.pieces = append(around.pieces, piece{start: around.from, end: around.line})
		around.from = around.line
	}
	around.held = &piece{start: around.line, head: b.head, tail: b.line, inner: b.pieces}
}

// whole returns the pieces of the file, none where it is parsed as it is.
func (s *scanner) whole() []piece {
	b := s.top().body
	if len(s.stack) != 1 || b.doubt {
		return nil
	}
	if b.held != nil {
		b.flush(len(s.src))
	}
	if len(b.pieces) == 0 {
		return nil
	}
	if b.from < len(s.src) {
		b.pieces = append(b.pieces, piece{start: b.from, end: len(s.src)})
	}
	return b.pieces
}

// joiner parses the pieces of a file in their order and puts the trees together.
//
// It trusts nothing that the scanner noted, and gives up where HCL reports anything of a piece, or where the pieces don't
// fit. What it does give is what parsing the file in one would: each piece begins behind a line feed and was read without
// an error to its end, so no string, heredoc, comment or bracket can be open at its borders; and a body is a sequence of
// items that end with their lines, whatever stands before and behind them.
type joiner struct {
	f        *File
	at, line int // the place up to which lines are counted
}

// join returns the tree of a file from its pieces. ok is false where there is any doubt.
func (f *File) join(pieces []piece) (Body, bool) {
	j := &joiner{f: f, line: 1}
	return j.body(pieces)
}

func (j *joiner) body(pieces []piece) (out Body, ok bool) {
	for _, p := range pieces {
		if p.head > 0 {
			b, ok := j.block(p)
			if !ok {
				return Body{}, false
			}
			out.Blocks = append(out.Blocks, b)
			continue
		}
		b, ok := j.parse(p.start, j.f.Src[p.start:p.end])
		if !ok {
			return Body{}, false
		}
		part := j.f.body(b)
		out.Attrs, out.Blocks = append(out.Attrs, part.Attrs...), append(out.Blocks, part.Blocks...)
	}
	return out, !repeated(out.Attrs)
}

// block parses a large block: the head with a brace behind it, the inside, the tail with a head before it.
func (j *joiner) block(p piece) (*Block, bool) {
	head, ok := j.parse(p.start, append(bytes.Clone(j.f.Src[p.start:p.head]), "}\n"...))
	if !ok || !hollow(head) {
		return nil, false
	}
	out := j.f.block(head.Blocks[0])
	if out.Body, ok = j.body(p.inner); !ok {
		return nil, false
	}
	tail, ok := j.parse(p.tail, append([]byte("x {\n"), j.f.Src[p.tail:p.end]...))
	return out, ok && hollow(tail)
}

// parse parses text as if it stood at an offset of the file, which is at least that of the last call.
func (j *joiner) parse(at int, text []byte) (*hclsyntax.Body, bool) {
	j.line += bytes.Count(j.f.Src[j.at:at], []byte("\n"))
	j.at = at
	tree, problems := hclsyntax.ParseConfig(text, j.f.Name, hcl.Pos{Line: j.line, Column: 1, Byte: at})
	return tree.Body.(*hclsyntax.Body), len(problems) == 0
}

// hollow tells whether a body is one block with nothing in it.
func hollow(b *hclsyntax.Body) bool {
	return len(b.Attributes) == 0 && len(b.Blocks) == 1 && len(b.Blocks[0].Body.Attributes)+len(b.Blocks[0].Body.Blocks) == 0
}

// repeated tells whether a name stands twice. HCL sees it within a piece only.
func repeated(attrs []*Attr) bool {
	if len(attrs) < 2 {
		return false
	}
	names := make([]string, len(attrs))
	for i, a := range attrs {
		names[i] = a.Name
	}
	sort.Strings(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return true
		}
	}
	return false
}
