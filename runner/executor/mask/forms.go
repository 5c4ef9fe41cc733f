package mask

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// form is a way in which a text is written elsewhere.
type form struct {
	name   string
	of     func(s string) []string
	kind   kind
	always bool // however long the secrets are; the others as far as there is room
}

// kind says what a form does to a text.
type kind int

const (
	// escape changes characters that mean something where the text stands, and leaves letters and digits.
	escape kind = iota
	// pack changes every byte.
	pack
	// wrap is a pack that programs break into lines.
	wrap
)

// forms are all ways that are looked for. A text is looked for in each of them, and in each of them again, as far as it says at
// [closure].
var forms = []form{
	{"JSON", jsonTexts, escape, true},
	{"a URL", urlTexts, escape, true},
	{"a shell's trace", traceTexts, escape, true},
	{"base64", base64Texts, wrap, true},
	{"a URL's path", pathTexts, escape, false},
	{"echo", echoTexts, escape, false},
	{"a shell's words", shellTexts, escape, false},
	{"a program's literals", literalTexts, escape, false},
	{"HTML and XML", markupTexts, escape, false},
	{"doubled quotes", doubledTexts, escape, false},
	{"mail and job logs", mailTexts, escape, false},
	{"hex", hexTexts, wrap, false},
	{"bytes one by one", byteTexts, pack, false},
}

// maxClosure bounds the bytes of what is looked for beside the texts themselves and the forms that are looked for always: that
// costs memory, about 18 times as much. TestClosure tells how much of it secrets take.
const maxClosure = 2 << 20

// closure gathers what is looked for.
type closure struct {
	plain, wrapped []string
	seen           map[string]bool
	left           int
}

// formsOf lists all that is looked for, without repeats: secrets, the same without the space around them, their longer lines, each of
// these in all forms, and escapes and base64 of those forms that are sent on (again). wrapped may be broken into lines. What goes beyond maxClosure is left out: second forms first, of the longest texts first.
func formsOf(secrets []string) (plain, wrapped []string) {
	c := &closure{seen: map[string]bool{}, left: maxClosure}
	var texts []string
	for _, s := range secrets {
		texts = append(texts, parts(s)...)
	}
	for _, s := range texts {
		c.plain = c.add(c.plain, s)
		for _, f := range forms {
			if f.always {
				c.form(f, s)
			}
		}
	}
	slices.SortStableFunc(texts, func(a, b string) int { return len(a) - len(b) }) // short ones cost little
	for _, s := range texts {
		for _, f := range forms {
			c.spend(f, s)
		}
	}
	for _, s := range texts {
		if c.left > 0 {
			c.again(s)
		}
	}
	return c.plain, c.wrapped
}

// again adds the forms of what is sent on: of JSON, URLs and HTML that a text stands in, and of its base64, as far as there is room.
func (c *closure) again(s string) {
	inner := slices.Concat(jsonTexts(s), urlTexts(s), pageTexts(s), base64Texts(s), brokenTexts(s))
	slices.Sort(inner)
	for _, e := range slices.Compact(inner) {
		for _, f := range forms {
			if e != s && (f.kind == escape || f.name == "base64") {
				c.spend(f, e)
			}
		}
	}
}

// spend adds a form of a text while there is room.
func (c *closure) spend(f form, s string) {
	if c.left <= 0 {
		return
	}
	for _, t := range f.of(s) {
		if c.seen[t] {
			continue
		}
		if c.left -= len(t); c.left < 0 {
			return
		}
		if f.kind == wrap {
			c.wrapped = c.add(c.wrapped, t)
		} else {
			c.plain = c.add(c.plain, t)
		}
	}
}

func (c *closure) form(f form, s string) {
	for _, t := range f.of(s) {
		if f.kind == wrap {
			c.wrapped = c.add(c.wrapped, t)
		} else {
			c.plain = c.add(c.plain, t)
		}
	}
}

func (c *closure) add(list []string, s string) []string {
	if len(s) < MinSecret || c.seen[s] {
		return list
	}
	c.seen[s] = true
	return append(list, s)
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

// urlTexts are the ways in which a URL is written: they differ in the space, in what needs no escape, and in the case of digits.
func urlTexts(s string) []string {
	query := url.QueryEscape(s)
	percent := strings.ReplaceAll(query, "+", "%20")
	component := components.Replace(percent)
	list := []string{query, percent, component, url.PathEscape(s), strings.ReplaceAll(percent, "%2F", "/")}
	for _, f := range slices.Clone(list) {
		list = append(list, lowerHex(f))
	}
	return list
}

// pathTexts are the ways in which a path as a whole is written, by Go and by encodeURI: what separates stays. What reads a URL
// decodes it before.
func pathTexts(s string) (list []string) {
	texts := []string{s}
	if decoded, err := url.PathUnescape(s); err == nil && decoded != s {
		texts = append(texts, decoded)
	}
	for _, t := range texts {
		percent := components.Replace(strings.ReplaceAll(url.QueryEscape(t), "+", "%20"))
		for _, f := range []string{(&url.URL{Path: t}).EscapedPath(), separators.Replace(percent)} {
			list = append(list, f, lowerHex(f))
		}
	}
	return append(list, texts[1:]...)
}

var (
	separators = strings.NewReplacer("%3B", ";", "%2C", ",", "%2F", "/", "%3F", "?", "%3A", ":", "%40", "@", "%26", "&", "%3D", "=",
		"%2B", "+", "%24", "$", "%23", "#")
	components  = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	jobData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	jobProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	forURLs     = strings.NewReplacer("+", "-", "/", "_")
)

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

// doubledTexts are the ways of SQL and YAML, of CSV and of make.
func doubledTexts(s string) []string {
	return []string{strings.ReplaceAll(s, "'", "''"), strings.ReplaceAll(s, `"`, `""`), strings.ReplaceAll(s, "$", "$$")}
}

// mailTexts are quoted-printable, and what commands of GitHub Actions escape.
func mailTexts(s string) []string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c == '=' || c > '~' || c < ' ' && !strings.ContainsRune("\t\r\n", rune(c)) {
			fmt.Fprintf(&b, "=%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return []string{b.String(), jobData.Replace(s), jobProperty.Replace(s)}
}

// base64Texts are the ways in which base64 is written, where the text stands alone and where it stands in the midst of another:
// three bytes become four characters, so there are three ways to begin. Characters that depend on the neighbours are left
// out of those.
func base64Texts(s string) []string {
	list := []string{base64.StdEncoding.EncodeToString([]byte(s)), base64.RawStdEncoding.EncodeToString([]byte(s))}
	for before := range 3 {
		code := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), s...))
		list = append(list, code[(before*8+5)/6:(before+len(s))*8/6])
	}
	for _, f := range slices.Clone(list) {
		list = append(list, forURLs.Replace(f))
	}
	return list
}

// brokenTexts are base64 in lines as base64, openssl and PEM break it, for what encodes that again.
func brokenTexts(s string) (list []string) {
	code := base64.StdEncoding.EncodeToString([]byte(s))
	for _, width := range []int{60, 64, 76} {
		if len(code) <= width {
			continue
		}
		var b strings.Builder
		for at := 0; at < len(code); at += width {
			b.WriteString(code[at:min(at+width, len(code))])
			b.WriteByte('\n')
		}
		list = append(list, strings.TrimSuffix(b.String(), "\n"))
	}
	return list
}

func hexTexts(s string) []string {
	code := hex.EncodeToString([]byte(s))
	return append([]string{code, strings.ToUpper(code)}, separated(code, " ", ":")...)
}

// byteTexts write each byte, or each character, by its number.
func byteTexts(s string) []string {
	code := hex.EncodeToString([]byte(s))
	list := separated(code, "-")
	for _, before := range []string{`\x`, "%"} {
		list = append(list, prefixed(code, before), prefixed(strings.ToUpper(code), before))
	}
	var decimal, lower, upper, octal strings.Builder
	for _, r := range s {
		fmt.Fprintf(&decimal, "&#%d;", r)
		fmt.Fprintf(&lower, "&#x%x;", r)
		fmt.Fprintf(&upper, "&#x%X;", r)
	}
	for i := range len(s) {
		octal.WriteString(`\` + octalByte(s[i]))
	}
	return append(list, decimal.String(), lower.String(), upper.String(), octal.String())
}

// separated writes hex in both cases with something between its bytes.
func separated(code string, by ...string) (list []string) {
	for _, sep := range by {
		text := strings.TrimPrefix(prefixed(code, sep), sep)
		list = append(list, text, strings.ToUpper(text))
	}
	return list
}

// prefixed writes hex with something before each of its bytes.
func prefixed(code, before string) string {
	var b strings.Builder
	for i := 0; i+1 < len(code); i += 2 {
		b.WriteString(before)
		b.WriteString(code[i : i+2])
	}
	return b.String()
}

func octalByte(b byte) string { return strconv.FormatInt(0o1000|int64(b), 8)[1:] }
