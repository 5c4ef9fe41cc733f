package backlog

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Needs finds what a text in Markdown says that it depends on, such as "depends on #12" and a list below the heading "Blocked by": the ids, in
// their order, each once. Text in code, comments and quotes says nothing.
func Needs(source string) []string {
	m := &markdown{d: &Document{}, src: visible([]byte(source)), context: parser.NewContext()}
	s := &scan{}
	m.needsOf(blockParser().Parse(text.NewReader(m.src), parser.WithContext(m.context)), s)
	var ids []string
	for _, n := range s.needs {
		if n.phrase == "" && !slices.Contains(ids, n.text) {
			ids = append(ids, n.text)
		}
	}
	return ids
}

func (m *markdown) needsOf(n ast.Node, s *scan) {
	listed := false // the list that follows has ids
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Heading, *ast.Paragraph, *ast.TextBlock:
			flat := m.inline(m.joined(c.Lines()))
			words := oneLine(flat.plain())
			listed = needsHead.Load().MatchString(strings.Trim(words, " :*"))
			s.flat = flat
			for _, line := range strings.Split(flat.text, "\n") {
				s.text = line
				s.takeRefs()
				if g := needsField.Load().FindStringSubmatch(line); g != nil {
					for _, r := range refParts.Load().FindAllString(g[1], -1) {
						s.addNeed(r)
					}
				}
			}
		case *ast.List:
			for item := c.FirstChild(); item != nil; item = item.NextSibling() {
				if lines := firstLines(item); listed && lines != nil {
					s.flat = m.inline(m.joined(lines))
					for _, r := range refParts.Load().FindAllString(s.flat.text, 1) {
						s.addNeed(r)
					}
				}
				m.needsOf(item, s)
			}
		}
	}
}

// LabelPriority reads the priority that a label says: P1, "priority: high", "high priority", urgent; nil if it says none.
func LabelPriority(label string) *int {
	word := strings.ToLower(strings.TrimSpace(label))
	bare := word
	for _, prefix := range []string{"priority", "prio"} {
		if rest, ok := strings.CutPrefix(word, prefix); ok {
			bare = strings.TrimLeft(rest, " :/-_=")
			break
		}
		if rest, ok := strings.CutSuffix(word, prefix); ok {
			bare = strings.TrimRight(rest, " :/-_")
			break
		}
	}
	if len(bare) == 1 && (bare == word || bare[0] < '0' || bare[0] > '9') || len(bare) > 2 && allDigits(bare) || strings.Trim(bare, "!") == "" {
		return nil
	}
	return readPriority(bare)
}
