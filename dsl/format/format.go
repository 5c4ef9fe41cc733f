// Package format gives workflow files their one layout, in which no two people's files differ.
//
// It knows tokens and lines, not what blocks mean: only the blanks between tokens and the empty lines between lines
// change. A string and a heredoc, with all that is interpolated in them, is one token here and stays byte for byte: so do
// conditions and scripts. Comments stay, but for blanks at their ends. The order of attributes and blocks is their author's.
//
// The rules: two blanks for each level, one blank between tokens, equals signs aligned in neighbouring lines whose values
// end on their line, comments behind code aligned likewise; at most one empty line in a row, none behind an opening or
// before a closing bracket, at least one between two blocks of which one takes several lines; LF at the end of every line,
// no byte order mark. They agree with those of hclwrite, which other HCL editors follow, but where that one formats inside
// of strings, puts "}, {" further in than the lines it divides, aligns the comments of lines of unlike levels, or joins
// "in" and "if" to the bracket behind them.
//
// The package imports syntax, which refuses files with errors, and hcl's scanner; never the schema or the IR.
// Enter at [Format]. What holds always: formatting twice changes nothing; a formatted file has the same tokens, which is
// checked before it is returned; a file with a syntax error is refused; time and memory grow with the file.
package format

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// Format lays out the text of a file. Name is what diagnostics call the file. With an error in the list there is no
// result: the file has to be mended first.
func Format(name string, src []byte) ([]byte, diag.List) {
	f, list := syntax.Parse(name, src)
	if list.HasErrors() {
		return nil, list
	}
	lines := split(slices.Collect(scan(f.Src)))
	indent(lines)
	separate(lines)
	space(lines)
	align(lines)
	out := write(lines, len(f.Src))
	if !same(lines, out) {
		panic(fmt.Sprintf("formatting %s would change its meaning", name)) // a defect of the rules of spacing: nothing is written
	}
	return out, list
}

// write gives the text of laid-out lines, which has about so many bytes.
func write(lines []line, size int) []byte {
	b := bytes.NewBuffer(make([]byte, 0, size))
	for i := range lines {
		l := &lines[i]
		if l.apart && i > 0 {
			b.WriteByte('\n')
		}
		for range 2 * l.indent {
			b.WriteByte(' ')
		}
		for _, t := range l.tokens {
			for range t.blanks {
				b.WriteByte(' ')
			}
			b.Write(t.text)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
