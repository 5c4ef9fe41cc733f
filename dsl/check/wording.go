package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/schema"
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

func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return list(out)
}
