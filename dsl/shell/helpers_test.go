package shell

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// cut makes the parts of a script whose values stand in « ». Places are byte offsets of that text, all in line 1.
func cut(src string) (parts []Part) {
	literal := func(from, to int) {
		p := Part{Text: src[from:to]}
		for i := from; i <= to; i++ {
			p.From = append(p.From, i)
		}
		parts = append(parts, p)
	}
	at := 0
	for {
		i := strings.Index(src[at:], "«")
		if i < 0 {
			break
		}
		end := strings.Index(src[at+i:], "»") + at + i
		literal(at, at+i)
		parts = append(parts, Part{Value: true, Text: src[at+i+len("«") : end], Range: place(at+i, end+len("»"))})
		at = end + len("»")
	}
	literal(at, len(src))
	return parts
}

func place(start, end int) diag.Range {
	return diag.Range{Start: diag.Pos{Line: 1, Column: start + 1, Byte: start}, End: diag.Pos{Line: 1, Column: end + 1, Byte: end}}
}
