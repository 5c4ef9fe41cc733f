package reference

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// howToLink is a line of howto/README.md that leads to a page.
var howToLink = lazyregexp.New(`(?m)^- \[([^\]]+)\]\(([a-z]+)\.md\)$`)

// howTo returns the list of the how-tos, each with the command that prints its page, for the word "howto", and a page for "howto.retry".
func howTo(word string) (text string, ok bool) {
	of, page, one := strings.Cut(word, ".")
	if of != "howto" && of != "how-to" {
		return "", false
	}
	if !one {
		list, _ := files.ReadFile("howto/README.md") // embedded: there
		return howToLink().ReplaceAllString(string(list), "- $1: `flowrun explain howto.$2`"), true
	}
	data, err := files.ReadFile("howto/" + page + ".md")
	return string(data), err == nil && page != "README"
}

// howTos are the words of the pages, in the order of the list.
func howTos() (out []string) {
	list, _ := files.ReadFile("howto/README.md") // embedded: there
	for _, m := range howToLink().FindAllStringSubmatch(string(list), -1) {
		out = append(out, "howto."+m[2])
	}
	return out
}
