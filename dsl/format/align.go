package format

import "github.com/hashicorp/hcl/v2/hclsyntax"

// align lines up the equals signs of neighbouring lines, and then the comments behind their code.
func align(lines []line) {
	column(lines, (*line).equals)
	column(lines, (*line).remark)
}

// column makes the tokens that find names (by their index; 0 is none) begin in one column throughout each run of
// lines of one level.
func column(lines []line, find func(*line) int) {
	for i := 0; i < len(lines); i++ {
		start, most := i, int32(0)
		for ; i < len(lines) && (i == start || lines[i].joins(&lines[start])) && find(&lines[i]) > 0; i++ {
			most = max(most, lines[i].columns(find(&lines[i])))
		}
		for j := start; j < i; j++ {
			at := find(&lines[j])
			lines[j].tokens[at].blanks = most - lines[j].columns(at) + 1
		}
		if i > start {
			i-- // the line that ended the run may begin another
		}
	}
}

// joins tells whether a line can go on with the run that first began.
func (l *line) joins(first *line) bool { return !l.apart && l.indent == first.indent }

// columns counts those before a token.
func (l *line) columns(at int) int32 {
	n := int32(2 * l.indent)
	for _, t := range l.tokens[:at] {
		n += t.blanks + t.width
	}
	return n
}

// equals finds the equals sign of a line that holds all of its value.
func (l *line) equals() int {
	for i, t := range l.tokens {
		if i == 0 || t.kind != hclsyntax.TokenEqual {
			continue
		}
		open := 0
		for _, t := range l.tokens[i:] {
			switch {
			case t.opens():
				open++
			case t.closes():
				open--
			}
		}
		if open == 0 {
			return i
		}
		return 0
	}
	return 0
}

// remark finds the comment with which a line of code ends.
func (l *line) remark() int {
	if n := len(l.tokens) - 1; l.tokens[n].kind == hclsyntax.TokenComment {
		return n
	}
	return 0
}
