package ui

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// TabStop is how far a tab reaches in a snippet.
const TabStop = 4

// Clean makes text safe for a terminal: control characters, bytes that are not UTF-8, and characters that reorder or
// hide text are written as escapes, newlines and tabs too. [CleanLines] keeps those.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case hidden(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// guard writes as escapes what in p acts on a terminal or hides text. Lines, tabs and carriage returns stay, and with sequences what ours
// are: a style, so many lines up, and the rest of a line or of the screen.
func guard(p []byte, sequences bool) []byte {
	begun := -1
	for i := 0; i < len(p); {
		n := harmless(p[i:], sequences)
		if n == 0 {
			begun = i
			break
		}
		i += n
	}
	if begun < 0 {
		return p
	}
	out := append(make([]byte, 0, len(p)+16), p[:begun]...)
	for i := begun; i < len(p); {
		n := harmless(p[i:], sequences)
		if n == 0 {
			_, n = utf8.DecodeRune(p[i:])
			out = append(out, Clean(string(p[i:i+n]))...)
		} else {
			out = append(out, p[i:i+n]...)
		}
		i += n
	}
	return out
}

// harmless is the length of the character or sequence that p begins with, 0 if it must not get out.
func harmless(p []byte, sequences bool) int {
	switch c := p[0]; {
	case c >= 0x20 && c < 0x7f, c == '\n', c == '\t', c == '\r':
		return 1
	case c == 0x1b && sequences:
		return sequence(p)
	case c < utf8.RuneSelf:
		return 0
	}
	r, size := utf8.DecodeRune(p)
	if r == utf8.RuneError && size == 1 || hidden(r) {
		return 0
	}
	return size
}

// sequence is the length of one of our own sequences, 0 of any other.
func sequence(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	n, several := 2, false // 1;31m is two styles at once
	for ; n < len(p)-1 && (p[n] >= '0' && p[n] <= '9' || p[n] == ';'); n++ {
		several = several || p[n] == ';'
	}
	if last := p[n]; last == 'm' || last == 'A' && !several || n == 2 && (last == 'K' || last == 'J') {
		return n + 1
	}
	return 0
}

// CleanLines is Clean for text of several lines: newlines stay, tabs become blanks, a carriage return before a newline goes.
func CleanLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = Clean(expand(l))
	}
	return strings.Join(lines, "\n")
}

// plain tells whether nothing needs an escape; it is quick for the usual text.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] == 0x7f {
			return false
		}
		if s[i] >= utf8.RuneSelf {
			return utf8.ValidString(s) && !strings.ContainsFunc(s, hidden)
		}
	}
	return true
}

// hidden tells whether a character acts on the terminal or on how its neighbours are seen: controls (Cc), and of the
// format characters (Cf) all but the joiners that emoji and some scripts are written with.
func hidden(r rune) bool {
	return unicode.IsControl(r) || (unicode.Is(unicode.Cf, r) && r != 0x200c && r != 0x200d) || r == 0x2028 || r == 0x2029
}

// expand replaces tabs by blanks up to the next tab stop.
func expand(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	cells := 0
	for _, r := range s {
		if r == '\t' {
			n := TabStop - cells%TabStop
			b.WriteString(strings.Repeat(" ", n))
			cells += n
			continue
		}
		b.WriteRune(r)
		cells += runeCells(r)
	}
	return b.String()
}

// Cells is how many columns of a terminal a text without control characters takes.
func Cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

// wide holds the ranges that terminals draw two cells wide: East Asian Wide and Fullwidth of Unicode's UAX 11, joined
// where they lie close, and the emoji blocks.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x23e9, 0x23ec}, {0x2614, 0x2615}, {0x26a1, 0x26a1}, {0x2705, 0x2705}, {0x2728, 0x2728},
	{0x274c, 0x274c}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3},
	{0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
}

func runeCells(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wide {
		if r < w[0] {
			return 1
		}
		if r <= w[1] {
			return 2
		}
	}
	return 1
}

// Truncate cuts a text to at most cells columns, the last of them an ellipsis where something was cut.
func Truncate(s string, cells int) string {
	if Cells(s) <= cells {
		return s
	}
	n := 0
	for i, r := range s {
		w := runeCells(r)
		if n+w > cells-1 {
			return s[:i] + "…"
		}
		n += w
	}
	return s
}

// Duration writes a duration for a person: 0.3s, 12.4s, 3m05s, 2h07m, 3d04h.
func Duration(d time.Duration) string {
	switch s := int64(d / time.Second); {
	case d < 0:
		return "0.0s"
	case s < 60:
		return fmt.Sprintf("%.1fs", float64(d/(100*time.Millisecond))/10)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	default:
		return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
	}
}

// Seconds is a [Duration] in whole seconds: 45s, 2d00h.
func Seconds(d time.Duration) string {
	return strings.Replace(Duration(d.Round(time.Second)), ".0s", "s", 1)
}

// Count writes a number of things: 1 error, 2 errors.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// First names the first few of many, and one name more where it would be the only one left out.
func First(names []string, most int) string {
	if len(names)-most <= 1 { // most can be all
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
