package mask

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// style is how a text stands between quotes, of JSON, a shell or a language.
type style struct {
	marks   string            // what gets a backslash
	short   map[rune]string   // what stands for single characters
	control string            // the format of other control characters; "": as they are
	wide    func(rune) string // what is not ASCII; nil: as it is
	bytes   string            // the format of each byte of what is not ASCII; "": see wide
}

func letters(pairs string) map[rune]string {
	short := map[rune]string{}
	for p := range strings.FieldsSeq(pairs) {
		short[rune(controls[p[0]])] = `\` + p
	}
	return short
}

// What stands for control characters in each language.
var (
	jsonShort   = letters("n r t b f")
	bashShort   = letters("a b E f n r t v")
	shellShort  = letters("a b e f n r t v")
	pythonShort = letters("n r t")
	rubyShort   = letters("a b t n v f r e")
	goShort     = letters("a b f n r t v")
	jsShort     = letters("n r t b f v")
)

// controls are control characters by the letters that stand for them.
var controls = map[byte]byte{'a': 7, 'b': 8, 't': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13, 'e': 27, 'E': 27}

// of writes a text in a style.
func (y style) of(s string) string {
	var b strings.Builder
	for i, r := range s {
		bad := r == utf8.RuneError && s[i] != "\uFFFD"[0] // no UTF-8
		switch short := y.short[r]; {
		case short != "":
			b.WriteString(short)
		case bad && y.bytes == "":
			b.WriteByte(s[i]) // nobody can say what becomes of it
		case bad:
			fmt.Fprintf(&b, y.bytes, s[i])
		case r < utf8.RuneSelf && strings.ContainsRune(y.marks, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' && y.control != "", r == 0x7f && y.control != "" && y.bytes != "":
			fmt.Fprintf(&b, y.control, r)
		case r >= utf8.RuneSelf && y.bytes != "":
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, y.bytes, c)
			}
		case r >= utf8.RuneSelf && y.wide != nil:
			b.WriteString(y.wide(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// jsonTexts are the ways in which JSON is written: with or without escapes for what is not ASCII, for HTML, and for slashes.
func jsonTexts(s string) (list []string) {
	for _, e := range []escapes{{}, {ascii: true}, {ascii: true, upper: true}, {html: true}, {slash: true}, {slash: true, ascii: true}} {
		list = append(list, e.of(s))
	}
	return list
}

// escapes says what JSON escapes beside what it must.
type escapes struct{ ascii, upper, html, slash bool }

func (e escapes) of(s string) string {
	format := `\u%04x`
	if e.upper {
		format = `\u%04X`
	}
	y := style{marks: `"\`, short: jsonShort, control: format}
	if e.slash {
		y.marks += "/"
	}
	if e.ascii {
		y.wide = func(r rune) string { return utf16(r, format) }
	}
	s = y.of(s)
	if e.html {
		s = htmlInJSON.Replace(s)
	}
	return s
}

var htmlInJSON = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`)

// utf16 writes a character as JSON does: what is beyond the first plane as two.
func utf16(r rune, format string) string {
	if r >= 0x10000 {
		r -= 0x10000
		return fmt.Sprintf(format+format, 0xD800+r>>10, 0xDC00+r&0x3FF)
	}
	return fmt.Sprintf(format, r)
}

// point writes a character as Python, Ruby and Go do.
func point(r rune, low, mid, high string) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(low, r)
	case r < 0x10000:
		return fmt.Sprintf(mid, r)
	}
	return fmt.Sprintf(high, r)
}

// traceTexts are the ways in which shells write words between single quotes, in a trace above all (sh -x, bash -x).
func traceTexts(s string) []string {
	list := []string{strings.ReplaceAll(s, "'", `'\''`), strings.ReplaceAll(s, "'", `'"'"'`)}
	if dash := apostrophes().ReplaceAllString(s, `'"$0"'`); dash != s { // export -p of dash, which begins and ends no empty quotes
		list = append(list, dash, strings.TrimSuffix(strings.TrimPrefix(dash, "'"), "'"))
	}
	return list
}

var apostrophes = lazyregexp.New("'+")

// shellTexts are their other ways: in a trace of what needs $'…', and in what declare -p, export -p and printf %q print; in a locale
// that knows the characters, and in C, which knows bytes.
func shellTexts(s string) []string {
	list := []string{style{marks: "\"$`\\"}.of(s), style{marks: "\"$`\\!"}.of(s)}
	for _, y := range []style{{}, {bytes: `\%03o`}} { // $'…'
		y.marks, y.short, y.control = `'\`, bashShort, `\%03o`
		list = append(list, y.of(s))
		y.short = shellShort
		list = append(list, y.of(s))
	}
	word := style{marks: " !\"$&'()*,;<>?[\\]^`{|}\t"}.of(s) // printf %q
	if s != "" && strings.ContainsRune("~#", rune(s[0])) {
		list = append(list, `\`+word)
	}
	return append(list, word, homes.Replace(word))
}

var (
	homes          = strings.NewReplacer(":~", `:\~`, "=~", `=\~`)
	interpolations = strings.NewReplacer("#{", `\#{`, "#$", `\#$`, "#@", `\#@`)
)

// echoTexts are what echo prints of a text that stands between quotes, and of one without: blanks divide that, and one space stands
// between its parts. echo of dash and of XSI, and printf %b, expand backslashes and end at \c; what stands before it is looked for
// by itself if it is as long as a line must be.
func echoTexts(s string) []string {
	list := []string{strings.Join(strings.Fields(s), " ")}
	for _, text := range []string{s, list[0]} {
		text, _, ended := strings.Cut(backslashes().ReplaceAllStringFunc(text, expand), ends)
		if !ended || len(text) >= MinLine {
			list = append(list, text)
		}
	}
	return list
}

var backslashes = lazyregexp.New(`\\(0[0-7]{0,3}|[1-7][0-7]{0,2}|[abcefnrtv\\])`)

// ends stands for \c while a text is expanded: no variable holds it.
const ends = "\x00c\x00"

// expand is what a backslash and what follows it stand for.
func expand(escape string) string {
	switch c := escape[1]; {
	case c == 'c':
		return ends
	case c == '\\':
		return `\`
	case c <= '7':
		n, _ := strconv.ParseUint(escape[1:], 8, 16)
		return string([]byte{byte(n)})
	default:
		return string([]byte{controls[c]})
	}
}

// literalTexts are the ways in which languages print texts: repr, ascii and bytes of Python, inspect of Ruby, %q and %+q of Go, dumps
// with single quotes.
func literalTexts(s string) (list []string) {
	python := style{short: pythonShort, control: `\x%02x`}
	for _, marks := range []string{`\`, `\'`} {
		for _, y := range []style{python,
			{wide: func(r rune) string { return point(r, `\x%02x`, `\u%04x`, `\U%08x`) }}, {bytes: `\x%02x`}} {
			y.marks, y.short, y.control = marks, python.short, python.control
			list = append(list, y.of(s))
		}
	}
	for _, y := range []style{{control: `\x%02X`}, {control: `\u%04X`, wide: func(r rune) string { return point(r, `\u%04X`, `\u%04X`, `\u{%X}`) }},
		{control: `\x%02X`, bytes: `\x%02X`}} {
		y.marks, y.short = `"\`, rubyShort
		text := y.of(s)
		list = append(list, text, interpolations.Replace(text))
	}
	for _, y := range []style{{}, {wide: func(r rune) string { return point(r, `\u%04x`, `\u%04x`, `\U%08x`) }}} {
		y.marks, y.short, y.control = `"\`, goShort, `\x%02x`
		list = append(list, y.of(s))
	}
	return append(list, style{marks: `'\`}.of(s), style{marks: `'\`, short: jsShort, control: `\x%02X`}.of(s))
}

// markups are the ways of HTML and XML: by names, by decimal and by hexadecimal numbers, for quotes and ends of lines or without.
var markups = func() (list []*strings.Replacer) {
	for _, quote := range []string{`"`, "&quot;", "&#34;", "&#x22;"} {
		for _, apostrophe := range []string{"'", "&#39;", "&#x27;", "&apos;", "&#039;"} {
			pairs := []string{"&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, quote, "'", apostrophe}
			list = append(list, strings.NewReplacer(pairs...),
				strings.NewReplacer(append(pairs, "\n", "&#xA;", "\r", "&#xD;", "\t", "&#x9;")...),
				strings.NewReplacer(append(pairs[:len(pairs):len(pairs)], "\n", "&#10;", "\r", "&#13;", "\t", "&#9;")...))
		}
	}
	return append(list,
		strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;", "/", "&#x2F;"),
		strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", "/", "&#x2F;", "`", "&#x60;", "=", "&#x3D;"),
		strings.NewReplacer("&", "&#38;", "<", "&#60;", ">", "&#62;", `"`, "&#34;", "'", "&#39;"),
		strings.NewReplacer("&", "&#x26;", "<", "&#x3C;", ">", "&#x3E;", `"`, "&#x22;", "'", "&#x27;"),
		strings.NewReplacer("&", "&#x26;", "<", "&#x3c;", ">", "&#x3e;", `"`, "&#x22;", "'", "&#x27;"))
}()

// markupTexts are these, and the same with numbers for what is not ASCII.
func markupTexts(s string) (list []string) {
	if !strings.ContainsAny(s, "&<>\"'/`=\n\r\t") {
		list = []string{s}
	} else {
		for _, r := range markups {
			list = append(list, r.Replace(s))
		}
		slices.Sort(list)
		list = slices.Compact(list)
	}
	if isASCII(s) {
		return list
	}
	for _, t := range slices.Clone(list) {
		for _, format := range []string{"&#%d;", "&#x%x;", "&#x%X;"} {
			list = append(list, style{wide: func(r rune) string { return fmt.Sprintf(format, r) }}.of(t))
		}
	}
	return list
}

// pages are the ways in which HTML is written most: of Python, of Go, of PHP, and of texts between tags.
var pages = []*strings.Replacer{
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#039;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;"),
}

// pageTexts are these.
func pageTexts(s string) (list []string) {
	for _, r := range pages {
		list = append(list, r.Replace(s))
	}
	return list
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
