package mask

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// formsOf lists all that is looked for, without repeats: secrets, the same without the space around them, their longer
// lines, and the encodings of all of these.
func formsOf(secrets []string) []string {
	seen := map[string]bool{}
	var forms []string
	for _, s := range secrets {
		for _, text := range parts(s) {
			for _, f := range encodings(text) {
				if len(f) >= MinSecret && !seen[f] {
					seen[f] = true
					forms = append(forms, f)
				}
			}
		}
	}
	return forms
}

// parts are a secret, and what of it programs print by itself.
func parts(s string) []string {
	if len(s) < MinSecret {
		return nil
	}
	list := []string{s, strings.TrimSpace(s)}
	if lines := strings.Split(s, "\n"); len(lines) > 1 {
		for _, l := range lines {
			if l = strings.TrimSpace(l); len(l) >= MinLine {
				list = append(list, l)
			}
		}
	}
	return list
}

// encodings are a text and what it looks like in JSON, in a URL, in base64 and in what a shell traces.
func encodings(s string) []string {
	if len(s) < MinSecret {
		return nil
	}
	list := append([]string{s}, quoted(s)...)
	list = append(list, escaped(s)...)
	list = append(list, packed(s)...)
	return append(list, strings.ReplaceAll(s, "'", `'\''`), strings.ReplaceAll(s, "'", `'"'"'`))
}

// quoted are the ways in which JSON is written: with or without escapes for what is not ASCII, for HTML, and for slashes.
func quoted(s string) (list []string) {
	for _, e := range []escapes{{}, {ascii: true}, {ascii: true, upper: true}, {html: true}, {slash: true}, {slash: true, ascii: true}} {
		list = append(list, e.of(s))
	}
	return list
}

// escapes says what JSON escapes beside what it must.
type escapes struct{ ascii, upper, html, slash bool }

func (e escapes) of(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}
	format := `\u%04x`
	if e.upper {
		format = `\u%04X`
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && s[i] != "\uFFFD"[0]: // no UTF-8: nobody can say what becomes of it
			b.WriteByte(s[i])
		case short[r] != "":
			b.WriteString(short[r])
		case r == '/' && e.slash:
			b.WriteString(`\/`)
		case r < ' ', e.html && strings.ContainsRune("<>&", r), r > '~' && r < 0x10000 && e.ascii:
			fmt.Fprintf(&b, format, r)
		case r >= 0x10000 && e.ascii:
			r -= 0x10000
			fmt.Fprintf(&b, format+format, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escaped are the ways in which a URL is written: they differ in the space, in what needs no escape, and in the case of digits.
func escaped(s string) []string {
	query := url.QueryEscape(s)
	percent := strings.ReplaceAll(query, "+", "%20")
	component := strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(percent)
	list := []string{query, percent, component, url.PathEscape(s), strings.ReplaceAll(percent, "%2F", "/")}
	for _, f := range slices.Clone(list) {
		list = append(list, lowerHex(f))
	}
	return list
}

// lowerHex writes the digits of percent escapes in lower case.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], strings.ToLower(s[i:i+3]))
		}
	}
	return string(b)
}

// packed are the ways in which base64 is written, where the text stands alone and where it stands in the midst of another:
// three bytes become four characters, so there are three ways to begin. Characters that depend on the neighbours are left
// out of those.
func packed(s string) []string {
	list := []string{base64.StdEncoding.EncodeToString([]byte(s)), base64.RawStdEncoding.EncodeToString([]byte(s))}
	for before := range 3 {
		code := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), s...))
		list = append(list, code[(before*8+5)/6:(before+len(s))*8/6])
	}
	for _, f := range slices.Clone(list) {
		list = append(list, strings.NewReplacer("+", "-", "/", "_").Replace(f))
	}
	return list
}
