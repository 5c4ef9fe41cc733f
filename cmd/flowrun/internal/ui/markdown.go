package ui

import (
	"regexp"
	"strings"
)

var (
	strong   = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	verbatim = regexp.MustCompile("`([^`]+)`")
	section  = regexp.MustCompile(`^#+ `)
	ruler    = regexp.MustCompile(`^\|[-:|]+\|$`)
	cells    = regexp.MustCompile(`(?:^\| | \| | \|$)`)
)

// Markdown writes a page of the reference for a terminal: headings and strong words bold, code indented, columns of
// tables aligned. The pages are ours, so this knows as much of Markdown as they use.
func Markdown(t *Term, text string) {
	code := false
	var table [][]string
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(l, "|") && !code {
			if !ruler.MatchString(l) {
				table = append(table, tableRow(l))
			}
			continue
		}
		writeTable(t, table)
		table = nil
		switch {
		case strings.HasPrefix(l, "```"):
			code = !code
			continue
		case code && l != "":
			l = "    " + Clean(l)
		case section.MatchString(l):
			l = t.Style(bold, Clean(section.ReplaceAllString(l, "")))
		case !code:
			l = spans(t, Clean(l))
		}
		t.Printf("%s\n", l)
	}
	writeTable(t, table)
}

// spans makes strong words bold, and code of another colour.
func spans(t *Term, s string) string {
	s = strong.ReplaceAllStringFunc(s, func(s string) string { return t.Style(bold, strings.Trim(s, "*")) })
	return verbatim.ReplaceAllStringFunc(s, func(s string) string { return t.Style(cyan, strings.Trim(s, "`")) })
}

// tableRow splits a row of a table.
func tableRow(line string) []string {
	parts := cells.Split(line, -1)
	for i, p := range parts {
		parts[i] = strings.TrimSpace(strings.ReplaceAll(Clean(p), "\\|", "|"))
	}
	return parts[1 : len(parts)-1]
}

func writeTable(t *Term, rows [][]string) {
	var width []int
	plainText := func(s string) string { return strings.ReplaceAll(s, "`", "") }
	for _, r := range rows {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], Cells(plainText(c)))
		}
	}
	for n, r := range rows {
		line := ""
		for i, c := range r {
			text := spans(t, c)
			if n == 0 {
				text = t.Style(bold, c)
			}
			if line += text; i+1 < len(r) {
				line += strings.Repeat(" ", width[i]-Cells(plainText(c))+2)
			}
		}
		t.Printf("%s\n", strings.TrimRight(line, " "))
	}
}
