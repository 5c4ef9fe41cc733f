package syntax

import (
	"bytes"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

var (
	conflict = lazyregexp.New(`(?m)^(<<<<<<< |>>>>>>> |\|\|\|\|\|\|\| )`)
	yamlLine = lazyregexp.New(`^(---|- |[A-Za-z_][A-Za-z0-9_-]*:(\s|$))`)
)

// foreign recognizes what stands in a workflow file by mistake and would give a flood of errors that name no cause.
func foreign(name string, src []byte) diag.List {
	if m := conflictIn(src); m != nil {
		return diag.List{{Code: "F0007", Summary: "Merge conflict left in the file", Subject: place(name, src, m[0], m[1]-1),
			Detail: "Lines that begin with <<<<<<<, ||||||| or >>>>>>> come from a merge that was not finished. Choose one side and remove the marks."}}
	}
	line, at := firstLine(src)
	switch {
	case len(line) == 0:
		return nil
	case line[0] == '{' || line[0] == '[':
		return diag.List{{Code: "F0008", Summary: "This looks like JSON", Subject: place(name, src, at, at+1),
			Detail: "Workflow files are written in HCL: workflow \"build\" { step \"test\" { run = [\"make\", \"test\"] } }, with a line for each attribute."}}
	case yamlLine().Match(line):
		return diag.List{{Code: "F0009", Summary: "This looks like YAML", Subject: place(name, src, at, at+len(line)),
			Detail: "Workflow files are written in HCL: blocks have braces, attributes an equals sign, as in  timeout = \"5m\"."}}
	}
	return nil
}

// conflictIn finds the first mark of a merge. Most files have none of the words, and a search for these is much faster.
func conflictIn(src []byte) []int {
	for _, w := range []string{"<<<<<<< ", ">>>>>>> ", "||||||| "} {
		if bytes.Contains(src, []byte(w)) {
			return conflict().FindIndex(src)
		}
	}
	return nil
}

// firstLine returns the first line that is neither blank nor a comment, without blanks around it, and its offset.
func firstLine(src []byte) ([]byte, int) {
	at := 0
	for rest := src; len(rest) > 0; {
		line, tail, _ := bytes.Cut(rest, []byte("\n"))
		text := bytes.TrimSpace(line)
		if len(text) > 0 && text[0] != '#' && !bytes.HasPrefix(text, []byte("//")) {
			return text, at + bytes.Index(line, text)
		}
		at += len(line) + 1
		rest = tail
	}
	return nil, 0
}
