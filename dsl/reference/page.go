package reference

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// Page is the page of a code, in Markdown.
type Page struct {
	Code, Title string
	Why         string // sentences: why it is refused
	Todo        string // sentences: what to do
	Bad, Good   Example
	Output      string // what validate says of Bad
	Text        string // the whole page
}

// Example is a program on a page: a file, or several with a line "-- NAME --" before each. Path is what is validated where
// it is not the one file. ⟨TEXT*N⟩ stands for N times TEXT, in which № is the number of the repetition; ⟨0xE9⟩ and
// ⟨U+202E⟩ stand for a byte and for a character that cannot be seen.
type Example struct{ Path, Text string }

var (
	heading = lazyregexp.New(`^# (F\d{4}): (.+)\n`)
	block   = lazyregexp.New("(?ms)^```(hcl|text)(?: ([^\n]+))?\n(.*?)^```$")
)

const todo = "**What to do:** "

// PageOf returns the page of a code. ok is false where the code is not known.
func PageOf(code string) (p Page, ok bool) {
	text, err := files.ReadFile("codes/" + code + ".md")
	if err != nil {
		return p, false
	}
	p, err = ParsePage(string(text))
	return p, err == nil
}

// ParsePage reads a page. Its form is a heading with code and title; why, and what to do; an example that is refused, or reported with a
// warning, and its output; an example that is accepted.
func ParsePage(text string) (Page, error) {
	p := Page{Text: text}
	head := heading().FindStringSubmatch(text)
	prose, rest, refused := strings.Cut(text, "\n## Refused\n")
	if !refused { // a warning, or advice
		prose, rest, refused = strings.Cut(text, "\n## Reported\n")
	}
	_, _, accepted := strings.Cut(rest, "\n## Accepted\n")
	why, do, told := strings.Cut(prose, todo)
	blocks := block().FindAllStringSubmatch(text, -1)
	switch {
	case head == nil:
		return p, fmt.Errorf("the first line is not  # CODE: TITLE")
	case !told:
		return p, fmt.Errorf("no paragraph begins with %s", strings.TrimSpace(todo))
	case !refused || !accepted:
		return p, fmt.Errorf("the headings  ## Refused, or ## Reported for warnings and advice, and  ## Accepted  are needed")
	case len(blocks) != 3 || blocks[0][1] != "hcl" || blocks[1][1] != "text" || blocks[2][1] != "hcl":
		return p, fmt.Errorf("three fenced blocks are needed: hcl, text and hcl")
	}
	p.Code, p.Title = head[1], head[2]
	p.Why, p.Todo = strings.TrimSpace(strings.TrimPrefix(why, head[0])), strings.TrimSpace(do)
	p.Bad, p.Output, p.Good = Example{blocks[0][2], blocks[0][3]}, blocks[1][3], Example{blocks[2][2], blocks[2][3]}
	return p, nil
}

// WithOutput is the text of the page with another output.
func (p *Page) WithOutput(output string) string {
	at := block().FindAllStringSubmatchIndex(p.Text, -1)[1]
	return p.Text[:at[6]] + output + p.Text[at[7]:]
}
