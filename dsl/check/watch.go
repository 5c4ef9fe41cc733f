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
				say(a.Src.Range, fmt.Sprintf("%s belongs to watched files", name), "The event of a change of a file is called file.NAME:  on \"file.NAME\" { … }. Rename the event, or remove the attribute.")
				return
			}
		}
		return
	}
	if name := strings.TrimPrefix(b.Name, ir.FileEvents); name == "" || name == "*" || strings.HasSuffix(name, ".*") {
		say(nameRange(b), "Watched files have one name", "Write a block on for each name, and say which files it is for:  on \"file.NAME\" { paths = [\"inbox/*\"] … }.")
		return
	}
	if a := b.attr("data"); a != nil {
		say(a.Src.Range, "The type of the change of a file is known", "It is an object of path, change, size and modified. Remove data.")
	}
	a := b.attr("paths")
	switch {
	case a == nil && !b.stray:
		say(b.Src.Header, fmt.Sprintf("Missing attribute %q in %s", "paths", b.Words()), "It says which files are watched:  paths = [\"inbox/*.csv\"].")
	case a != nil && len(a.Strings) == 0 && a.Src.Text() == "[]":
		say(a.span(), "paths is empty", "It says which files are watched:  paths = [\"inbox/*.csv\"].")
	case a != nil && len(a.Strings) > maxPatterns:
		say(a.span(), fmt.Sprintf("%d patterns of files", len(a.Strings)), fmt.Sprintf("The limit is %d. Join some of them with * or **.", maxPatterns))
	}
	if a != nil {
		for _, pattern := range a.Strings {
			if _, err := path.Match(pattern, ""); pattern == "" || err != nil {
				say(a.span(), fmt.Sprintf("%.80q is not a pattern of files", pattern), "A pattern is a path in which * and ? stand for characters of a name, [a-z] for one of them, and ** for folders:  \"inbox/*.csv\".")
			}
		}
	}
	if a := b.attr("debounce"); a != nil && a.Expr != nil && a.known == nil {
		say(a.span(), "debounce is not known before a run", "Write it out:  debounce = \"1s\".")
	}
	if before == nil {
		return
	}
	for _, name := range []string{"paths", "debounce"} {
		if text(b.attr(name)) != text(before.attr(name)) {
			c.report(diag.Diagnostic{Code: "F0417", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("Two blocks on watch different files under one name, by %s", name),
				Detail: "One change of a file is one event, and starts a run of each workflow. Write the same in both, or give one of them another name.",
				Notes:  []diag.Note{{Text: "the first one", Range: before.Src.Header}}})
			return
		}
	}
}
