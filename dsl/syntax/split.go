package syntax

import (
	"bytes"
	"fmt"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// segment is a part of a file that begins with a line of a body and ends with one, and has nothing of an item on either
// side. end is the offset behind it; the next one begins there.
type segment struct {
	end  int32
	kind segmentKind
}

type segmentKind uint8

const (
	item   segmentKind = iota // an attribute, a block on one line, a comment, a blank line
	opens                     // a block's header, up to the line end behind its brace
	closes                    // a block's closing brace
)

// newline ends a segment if the line ends a body's: outside of brackets and text, each item ends with its line.
func (s *scanner) newline() {
	f := s.top()
	if !f.body {
		return
	}
	kind := item
	switch {
	case !f.open:
		f.open, kind = true, opens
		s.doubt = s.doubt || s.closed
	case s.closed:
		kind = closes
	}
	s.closed = false
	s.segments = append(s.segments, segment{int32(s.i + 1), kind})
}

// blockEnds notes the closing brace of a block, and refuses one that is too large.
func (s *scanner) blockEnds(f frame) {
	s.top().inside += s.i + 1 - f.start
	if own := s.i - f.from - f.inside; own > s.most.Block {
		s.fail(f.from, 1, "F0056", fmt.Sprintf("Block of %d bytes is too large", own),
			fmt.Sprintf("A block may have at most %s, besides those of the blocks inside it. Keep data in a file that a step reads.", bytesText(s.most.Block))+raise("block"))
	}
	if f.open {
		s.doubt = s.doubt || s.closed
		s.closed = true
	}
}

// cut returns the segments of the file, or nil where two braces on a line leave a doubt about them.
func (s *scanner) cut() []segment {
	if len(s.stack) != 1 || s.doubt {
		return nil
	}
	if n := len(s.segments); n == 0 || int(s.segments[n-1].end) < len(s.src) {
		kind := item
		if s.closed {
			kind = closes
		}
		s.segments = append(s.segments, segment{int32(len(s.src)), kind})
	}
	return s.segments
}

// MaxPieceBytes is about how much of a file HCL's parser gets at once. It keeps all tokens of a text in one slice, 96
// bytes for each, which a large text copies again and again, and the collector scans.
const MaxPieceBytes = 4 << 10

// joiner reads the segments of a file in their order and puts the tree together. What is plain it reads itself
// (plain.go); the rest it gives to HCL in pieces.
//
// It trusts nothing that the scanner noted, and gives up where HCL reports anything of a piece, or where the pieces
// don't fit. What it does give is what HCL would give for the file in one: each piece begins behind a line feed and was
// read without an error to its end, so no string, heredoc, comment or bracket is open at its borders; and a body is a
// sequence of items that end with their lines, whatever stands before and behind them.
type joiner struct {
	f        *File
	segments []segment
	next     int // of the segments
	at, line int // where it begins
}

// join returns the tree of a file from its segments. end is negative; where there is any doubt, it is how far the file
// was read.
func (f *File) join(segments []segment) (b Body, end int) {
	j := &joiner{f: f, segments: segments, line: 1}
	b, ok := j.body()
	if ok && j.next == len(segments) {
		return b, -1
	}
	if j.next < len(segments) {
		j.skip()
	}
	return Body{}, j.at
}

// body reads the segments of a body, up to the one that closes it or the end of the file.
func (j *joiner) body() (out Body, ok bool) {
	for j.next < len(j.segments) {
		switch s := j.segments[j.next]; s.kind {
		case closes:
			return out, !repeated(out.Attrs)
		case opens:
			b, ok := j.block()
			if !ok {
				return Body{}, false
			}
			out.Blocks = append(out.Blocks, b)
		default:
			if j.plain(int(s.end), &out) {
				j.skip()
			} else if !j.piece(&out) {
				return Body{}, false
			}
		}
	}
	return out, !repeated(out.Attrs)
}

// skip goes on to the next segment.
func (j *joiner) skip() {
	end := int(j.segments[j.next].end)
	j.line += bytes.Count(j.f.Src[j.at:end], []byte("\n"))
	j.at = end
	j.next++
}

// piece parses the items from here on that HCL has to read.
func (j *joiner) piece(out *Body) bool {
	start, pos := j.at, j.pos(j.at)
	for {
		j.skip()
		if j.next == len(j.segments) || j.at-start >= MaxPieceBytes || j.segments[j.next].kind != item || j.readable(int(j.segments[j.next].end)) {
			break
		}
	}
	b, ok := j.parse(j.f.Src[start:j.at], pos)
	if ok {
		part := j.f.body(b)
		out.Attrs, out.Blocks = append(out.Attrs, part.Attrs...), append(out.Blocks, part.Blocks...)
	}
	return ok
}

// block reads a block: its header, what is inside, and its closing brace. Where HCL has to read the header it gets a
// brace behind it, and the closing one gets a header before it.
func (j *joiner) block() (out *Block, ok bool) {
	end := int(j.segments[j.next].end)
	if out = j.plainHeader(end); out == nil {
		head, ok := j.parse(append(bytes.Clone(j.f.Src[j.at:end]), "}\n"...), j.pos(j.at))
		if !ok || !hollow(head) {
			return nil, false
		}
		out = j.f.block(head.Blocks[0])
	}
	j.skip()
	if out.Body, ok = j.body(); !ok || j.next == len(j.segments) {
		return nil, false
	}
	end = int(j.segments[j.next].end)
	closed := j.plainClose(end)
	if closed == 0 {
		const header = "x {\n"
		tail, ok := j.parse(append([]byte(header), j.f.Src[j.at:end]...), j.pos(j.at))
		if !ok || !hollow(tail) {
			return nil, false
		}
		closed = tail.Blocks[0].CloseBraceRange.End.Byte - len(header)
	}
	out.End = int32(closed)
	j.skip()
	return out, true
}

// pos is a place on the line that the reader is at, which holds nothing but ASCII before it.
func (j *joiner) pos(at int) hcl.Pos { return hcl.Pos{Line: j.line, Column: at - j.at + 1, Byte: at} }

// parse parses text as if it stood at a place of the file.
func (j *joiner) parse(text []byte, at hcl.Pos) (*hclsyntax.Body, bool) {
	tree, problems := hclsyntax.ParseConfig(text, j.f.Name, at)
	return tree.Body.(*hclsyntax.Body), len(problems) == 0
}

// hollow tells whether a body is one block with nothing in it.
func hollow(b *hclsyntax.Body) bool {
	return len(b.Attributes) == 0 && len(b.Blocks) == 1 && len(b.Blocks[0].Body.Attributes)+len(b.Blocks[0].Body.Blocks) == 0
}

// repeated tells whether a name stands twice. HCL sees it within a piece only.
func repeated(attrs []*Attr) bool {
	if len(attrs) > 8 {
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
	for i, a := range attrs {
		for _, b := range attrs[:i] {
			if a.Name == b.Name {
				return true
			}
		}
	}
	return false
}
