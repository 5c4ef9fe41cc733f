package dsl

import (
	"bytes"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

var (
	// sensitive is a declaration that says so, or tries to.
	sensitive = lazyregexp.New(`\bsensitive[ \t]*=[ \t]*([^ \t\r\n#/]*)`)
	// declares is where a declaration, or something else that is none, begins.
	declares = lazyregexp.New(`(?m)^[ \t]*(variable|input|output|locals|workflow|step|sequence|parallel|switch|finally|agent|gate|memory|flowrun)\b[^=\n]*(\{|$)`)
	// hasDefault is what stands before a default.
	hasDefault = lazyregexp.New(`\bdefault[ \t]*=[ \t]*`)
	// hasMore is what stands behind one: the next attribute or block of a declaration, or its end.
	hasMore = lazyregexp.New(`(?m)^[ \t]*((type|sensitive|description|enum|nullable)[ \t]*=|validation\b|\}[ \t]*\r?$)`)
)

// Withhold is a text without the defaults of what is sensitive in it, at which asterisks stand instead: offsets stay as they are. It is
// for whoever shows lines of a file. It reads words and no syntax, so it also works where the file cannot be parsed, and withholds
// too much rather than too little. A text that has none is returned as it is.
func Withhold(src []byte) []byte {
	out := src
	for _, m := range sensitive().FindAllSubmatchIndex(src, -1) {
		if string(src[m[2]:m[3]]) == "false" {
			continue
		}
		start, end := 0, len(src)
		for _, d := range declares().FindAllIndex(src[:m[0]], -1) {
			start = d[0]
		}
		if d := declares().FindIndex(src[m[1]:]); d != nil {
			end = m[1] + d[0]
		}
		out = withholdIn(src, out, start, end)
	}
	return out
}

// withholdIn blanks the defaults between two places of src in out, which it copies before it changes it.
func withholdIn(src, out []byte, start, end int) []byte {
	for _, d := range hasDefault().FindAllIndex(src[start:end], -1) {
		from, to := start+d[1], end
		if more := hasMore().FindIndex(src[from:end]); more != nil {
			to = from + more[0]
		}
		switch text := string(bytes.TrimSpace(src[from:to])); text {
		case "", "null", `""`:
			continue
		}
		if &out[0] == &src[0] {
			out = bytes.Clone(src)
		}
		for i := from; i < to; i++ {
			if c := out[i]; c != '\n' && c != '\r' && c != ' ' && c != '\t' {
				out[i] = '*'
			}
		}
	}
	return out
}
