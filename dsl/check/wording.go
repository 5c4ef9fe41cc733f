package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

func place(where string) string {
	if where == "" {
		return "a file"
	}
	return where
}

func article(what string) string {
	switch {
	case what == "":
		return "A file"
	case strings.ContainsRune("aeio", rune(what[0])):
		return "An " + what
	}
	return "A " + what
}

// withArticle puts a or an before a word.
func withArticle(what string) string {
	text := article(what)
	return strings.ToLower(text[:1]) + text[1:]
}

// list writes names as a sentence does: a, b and c.
func list(names []string) string {
	switch len(names) {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// maxNamed bounds the names that a message lists.
const maxNamed = 16

// some is list for names of any number.
func some(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return list(names)
}

// takes says in a message what an attribute takes.
func takes(a *schema.Attr) string {
	switch a.Kind {
	case schema.Word:
		return " It is one of " + quoted(a.Words) + "."
	case schema.Duration:
		return ` It is a duration, such as "1m30s".`
	}
	return ""
}

// written shows a block with the first of its attributes.
func written(b *schema.Block) string {
	s := b.Kind
	if b.Label != "" {
		s += ` "NAME"`
	}
	if len(b.Attrs) == 0 || b.Attrs[0].Later != nil {
		return s + " { … }"
	}
	return fmt.Sprintf("%s { %s = %s }", s, b.Attrs[0].Name, example(&b.Attrs[0]))
}

// example shows what an attribute takes.
func example(a *schema.Attr) string {
	switch a.Kind {
	case schema.Duration:
		return `"1m30s"`
	case schema.Condition:
		return `"CONDITION"`
	case schema.Command:
		return `["PROGRAM", "ARGUMENT"]`
	case schema.Env:
		return `{ NAME = "VALUE" }`
	case schema.Word:
		return fmt.Sprintf("%q", a.Words[0])
	case schema.Text:
		return `"TEXT"`
	case schema.Flag:
		return "true"
	case schema.Strings:
		return `["A", "B"]`
	case schema.Type:
		return "string"
	case schema.Ref:
		return a.RefKind + ".NAME"
	case schema.Refs:
		return "[" + a.RefKind + ".NAME]"
	case schema.Quotas:
		return "quota.NAME"
	}
	switch a.Want.Kind {
	case value.NumberT:
		return "3"
	case value.StringT:
		return `"TEXT"`
	}
	return "VALUE"
}

func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return list(out)
}
