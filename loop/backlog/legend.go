package backlog

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

var legendPair = lazy("`?\\[([^\\]]{1,4})\\]`?\\s*[=:–—-]?\\s*([\\pL][\\pL' -]*)")

// readLegend finds the lines in which a file says what its marks mean: a list whose items are statuses and nothing else, or a line
// such as "✅ done | ⏳ planned".
func (m *markdown) readLegend(root ast.Node) {
	for c := root.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.List:
			for mark, status := range m.legendOf(c) { // any order: each mark is set once
				m.legend[mark] = status
			}
		case *ast.Paragraph:
			if c.Lines().Len() <= 5 {
				m.legendLine(c.Lines())
			}
		}
	}
}

func (m *markdown) isLegend(l *ast.List) bool { return len(m.legendOf(l)) > 0 }

// legendOf gives what a list says about marks; nil if any of its items is more than a mark and a status, or two have one mark.
func (m *markdown) legendOf(l *ast.List) map[string]Status {
	found := map[string]Status{}
	for c := l.FirstChild(); c != nil; c = c.NextSibling() {
		lines := firstLines(c)
		if lines == nil || lines.Len() != 1 || len(m.value(lines.At(0))) > 80 || c.FirstChild() != c.LastChild() {
			return nil
		}
		line := strings.ReplaceAll(strings.TrimSpace(string(m.value(lines.At(0)))), "`", "")
		mark := ""
		if b, ok := findBox([]byte(line)); ok && line[:1] == "[" {
			mark, line = "["+line[b.start:b.end]+"]", line[b.after:]
		} else if rest, emoji := splitEmoji(line); emoji != 0 {
			mark, line = string(emoji), rest
		} else {
			return nil
		}
		status, ok := legendWords(line)
		if _, twice := found[mark]; twice || !ok {
			return nil
		}
		found[mark] = status
	}
	if len(found) < 2 {
		return nil
	}
	return found
}

// legendWords reads the words behind a mark. Only words that are a status, or alternatives of one, count.
func legendWords(words string) (Status, bool) {
	words = normalize(strings.Trim(words, " *_=:-–—"))
	for _, end := range []int{len(words), strings.IndexAny(words, "/(,;–—:")} {
		if end <= 0 {
			continue
		}
		w := strings.TrimSpace(words[:end])
		if s, ok := phrases()[w]; ok {
			return s, true
		}
		if s, ok := cellPhrases()[w]; ok && len(w) > 2 {
			return s, true
		}
	}
	return "", false
}

func (m *markdown) legendLine(lines *text.Segments) {
	source := m.joined(lines)
	if len(source) > 500 || strings.IndexFunc(source, isStatusEmoji) < 0 && !strings.Contains(source, "[") {
		return
	}
	found := map[string]Status{}
	parts := strings.FieldsFunc(source, func(r rune) bool { return strings.ContainsRune("|·•,;\n", r) })
	for _, p := range parts {
		p = strings.TrimSpace(p)
		if at := strings.IndexFunc(p, isStatusEmoji); at >= 0 {
			rest, emoji := splitEmoji(p[at:])
			if s, ok := legendWords(rest); ok {
				found[string(emoji)] = s
			}
		} else if g := legendPair.Load().FindStringSubmatch(p); g != nil {
			if s, ok := legendWords(g[2]); ok && slices.ContainsFunc([]string{"`", ":", "="}, func(sign string) bool { return strings.Contains(source, sign) }) {
				found["["+g[1]+"]"] = s
			}
		}
	}
	if len(found) < 2 {
		return
	}
	for mark, status := range found { // any order: each mark is set once
		m.legend[mark] = status
	}
}
