package check

import (
	"fmt"
	"path"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
)

// maxPatterns is how many patterns of files a block on has.
const maxPatterns = 100

// isFileEvent reports whether a block on is for changes of files.
func isFileEvent(b *Block) bool { return strings.HasPrefix(b.Name, ir.FileEvents) }

// Files are those that a block on watches; nil for another event.
func (b *Block) Files() *ir.Files {
	a := b.attr("paths")
	if !isFileEvent(b) || a == nil {
		return nil
	}
	f := &ir.Files{Paths: a.Strings, Debounce: ir.DefaultFileDebounce}
	if b.attr("debounce") != nil {
		f.Debounce = b.Span("debounce")
	}
	return f
}

// files checks which files a block on watches. before is the first block on for the same event, or nil.
func (c *checker) files(b, before *Block) {
	say := func(at diag.Range, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0417", Subject: at, Context: b.Words(), Summary: summary, Detail: detail})
	}
	if !isFileEvent(b) {
		for _, name := range []string{"paths", "debounce"} {
			if a := b.attr(name); a != nil {
				say(a.Src.Range, fmt.Sprintf("%s belongs to watched files", name), "The event of a file change has the name file.NAME:  on \"file.NAME\" { … }. Rename the event, or remove the attribute.")
				return
			}
		}
		return
	}
	if name := strings.TrimPrefix(b.Name, ir.FileEvents); name == "" || name == "*" || strings.HasSuffix(name, ".*") {
		say(nameRange(b), "Watched files have one name", "Write an  on  block for each name, with its files:  on \"file.NAME\" { paths = [\"inbox/*\"] … }.")
		return
	}
	if a := b.attr("data"); a != nil {
		say(a.Src.Range, "The type of a file change is fixed", "It is an object of path, change, size and modified. Remove data.")
	}
	a := b.attr("paths")
	switch {
	case a == nil && !b.stray:
		say(b.Src.Header, fmt.Sprintf("Missing attribute %q in %s", "paths", b.Words()), "Name the watched files:  paths = [\"inbox/*.csv\"].")
	case a != nil && len(a.Strings) == 0 && a.Src.Text() == "[]":
		say(a.span(), "paths is empty", "Name the watched files:  paths = [\"inbox/*.csv\"].")
	case a != nil && len(a.Strings) > maxPatterns:
		say(a.span(), fmt.Sprintf("%d patterns of files", len(a.Strings)), fmt.Sprintf("The limit is %d. Combine some of them with * or **.", maxPatterns))
	}
	if a != nil {
		for _, pattern := range a.Strings {
			if _, err := path.Match(pattern, ""); pattern == "" || err != nil {
				say(a.span(), fmt.Sprintf("%.80q is not a pattern for files", pattern), "A pattern is a path; * and ? match characters of a name, [a-z] one of these characters, and ** folders:  \"inbox/*.csv\".")
			}
		}
	}
	if a := b.attr("debounce"); a != nil && a.Expr != nil && a.known == nil {
		say(a.span(), "debounce is not known before a run", "Write a literal:  debounce = \"1s\".")
	}
	if before == nil {
		return
	}
	for _, name := range []string{"paths", "debounce"} {
		if text(b.attr(name)) != text(before.attr(name)) {
			c.report(diag.Diagnostic{Code: "F0417", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("Two \"on\" blocks watch different files under one name: %s", name),
				Detail: "Both blocks share the event of the name. Use the same value in both, or rename one of them.",
				Notes:  []diag.Note{{Text: "the first one", Range: before.Src.Header}}})
			return
		}
	}
}
