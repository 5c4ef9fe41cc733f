package expr

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/norm"
)

// decoded is the text of a literal string, with the offset in the file of each of its bytes, and one more for its end.
// Where from is nil, the text stands in the file as it is, from base on.
type decoded struct {
	text string
	from []int
	base int
}

// at is the offset in the file of a byte of the text.
func (d decoded) at(i int) int {
	if d.from == nil {
		return d.base + min(max(i, 0), len(d.text))
	}
	return d.from[min(max(i, 0), len(d.from)-1)]
}

// decodeLiteral reads a quoted string or a heredoc from the file's own bytes, because the parser keeps one range for all
// of it, and escapes and stripped indents move every column behind them. start and end are byte offsets.
func decodeLiteral(x *hclsyntax.TemplateExpr, src []byte) decoded {
	r := x.Range()
	start, end := min(r.Start.Byte, len(src)), min(r.End.Byte, len(src))
	raw := src[start:max(start, end)]
	want, plain := literalText(x)
	var d decoded
	switch {
	case len(raw) >= 2 && raw[0] == '"' && !bytes.ContainsAny(raw, "\\$%"):
		if d = (decoded{text: string(raw[1 : len(raw)-1]), base: start + 1}); !plain || d.text == want {
			return d
		}
	case len(raw) >= 2 && raw[0] == '"':
		d = decodeQuoted(raw[1:len(raw)-1], start+1)
	case bytes.HasPrefix(raw, []byte("<<")):
		d = decodeHeredoc(raw, start)
	}
	if plain && d.text != want {
		d = d.composed()
	}
	if plain && d.text != want { // a form that this decoder does not know: right text, every place at its start
		d = decoded{}
		for i := range len(want) {
			d.text, d.from = want[:i+1], append(d.from, start)
		}
	}
	d.from = append(d.from, tail(d, start))
	return d
}

// composed is the text as cty keeps strings: letters and their accents in one character where there is one (NFC).
func (d decoded) composed() (out decoded) {
	var text strings.Builder
	var it norm.Iter
	for it.InitString(norm.NFC, d.text); !it.Done(); {
		start := it.Pos()
		s := it.Next()
		text.Write(s)
		for range s {
			out.from = append(out.from, d.at(start))
		}
	}
	out.text = text.String()
	return out
}

// tail is the offset behind the last character.
func tail(d decoded, start int) int {
	if len(d.from) == 0 {
		return start + 1
	}
	return d.from[len(d.from)-1] + 1
}

func decodeQuoted(raw []byte, base int) decoded {
	var d decoded
	var text strings.Builder
	for i := 0; i < len(raw); {
		n, s := escape(raw[i:])
		text.WriteString(s)
		if n == len(s) {
			for j := range len(s) {
				d.from = append(d.from, base+i+j)
			}
		} else {
			for range len(s) {
				d.from = append(d.from, base+i)
			}
		}
		i += n
	}
	d.text = text.String()
	return d
}

var escapes = map[byte]string{'n': "\n", 'r': "\r", 't': "\t", '"': `"`, '\\': `\`}

// escape decodes one character of a quoted string and returns how many bytes it takes in the file.
func escape(raw []byte) (int, string) {
	if s, n := dollars(raw); n > 0 {
		return n, s
	}
	if raw[0] == '\\' && len(raw) > 1 {
		if s, ok := escapes[raw[1]]; ok {
			return 2, s
		}
		digits := map[byte]int{'u': 4, 'U': 8}[raw[1]]
		if digits > 0 && len(raw) >= 2+digits {
			if c, err := strconv.ParseUint(string(raw[2:2+digits]), 16, 32); err == nil {
				return 2 + digits, string(rune(c))
			}
		}
	}
	_, n := utf8.DecodeRune(raw)
	return n, string(raw[:n])
}

// dollars decodes $${ and %%{.
func dollars(raw []byte) (string, int) {
	if len(raw) >= 3 && raw[2] == '{' && raw[0] == raw[1] && (raw[0] == '$' || raw[0] == '%') {
		return string(raw[1:3]), 3
	}
	return "", 0
}

// decodeHeredoc reads <<WORD and <<-WORD. The latter loses the indent that all its lines share.
func decodeHeredoc(raw []byte, base int) decoded {
	first := bytes.IndexByte(raw, '\n') + 1
	last := bytes.LastIndexByte(bytes.TrimRight(raw, "\r\n"), '\n') + 1
	if first == 0 || last < first {
		return decoded{}
	}
	lines := bytes.SplitAfter(raw[first:last], []byte("\n"))
	indent := 0
	if bytes.HasPrefix(raw, []byte("<<-")) {
		indent = sharedIndent(lines)
	}
	var d decoded
	var text strings.Builder
	at := base + first
	for _, line := range lines {
		i := 0
		if !blank(line) {
			i = cut(line, indent)
		}
		for i < len(line) {
			s, n := dollars(line[i:])
			if n == 0 {
				s, n = string(line[i:i+1]), 1
			}
			text.WriteString(s)
			for j := range len(s) {
				d.from = append(d.from, at+i+j)
			}
			i += n
		}
		at += len(line)
	}
	d.text = text.String()
	return d
}

// blank tells whether a line holds nothing but its end: such lines keep their spaces and have no say in the indent.
func blank(line []byte) bool {
	return bytes.HasSuffix(line, []byte("\n")) && len(bytes.TrimLeftFunc(line, unicode.IsSpace)) == 0
}

// sharedIndent is how many white characters every line begins with that is not blank.
func sharedIndent(lines [][]byte) int {
	indent := -1
	for _, line := range lines {
		if len(line) == 0 || blank(line) {
			continue
		}
		n := utf8.RuneCount(line[:len(line)-len(bytes.TrimLeftFunc(line, unicode.IsSpace))])
		if indent < 0 || n < indent {
			indent = n
		}
	}
	return max(indent, 0)
}

// cut is the length in bytes of the first n characters.
func cut(line []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(line); n-- {
		_, size := utf8.DecodeRune(line[i:])
		i += size
	}
	return i
}

// Offsets gives for each byte of the text of a literal part of a template, and for what follows, the offset in the file. at
// is the part's range, quoted whether the template stands in quotes. What a heredoc or a ~ has stripped is passed over.
func Offsets(text string, at hcl.Range, src []byte, quoted bool) []int {
	raw := src[min(at.Start.Byte, len(src)):min(at.End.Byte, len(src))]
	from := make([]int, 0, len(text)+1)
	i := 0
	for j := 0; j < len(text); {
		if i >= len(raw) {
			from = append(from, at.End.Byte)
			j++
			continue
		}
		s, n := string(raw[i:i+1]), 1
		if quoted {
			n, s = escape(raw[i:])
		} else if d, k := dollars(raw[i:]); k > 0 {
			s, n = d, k
		}
		if strings.HasPrefix(text[j:], s) {
			from = append(from, at.Start.Byte+i)
			for k := 1; k < len(s); k++ {
				from = append(from, at.Start.Byte+i+n-len(s)+k)
			}
			j += len(s)
		}
		i += n
	}
	return append(from, at.Start.Byte+min(i, len(raw)))
}

// literalText is the string that the parser found, and whether it is one without ${}.
func literalText(x *hclsyntax.TemplateExpr) (string, bool) {
	var b strings.Builder
	for _, p := range x.Parts {
		l, ok := p.(*hclsyntax.LiteralValueExpr)
		if !ok {
			return "", false
		}
		v, err := fromLiteral(l.Val)
		s, is := v.(string)
		if err != nil || !is {
			return "", false
		}
		b.WriteString(s)
	}
	return b.String(), true
}
