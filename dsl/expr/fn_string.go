package expr

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/value"
)

var stringFunctions = []function{
	text1("lower", strings.ToLower), text1("upper", strings.ToUpper), text1("title", title), text1("strrev", reverseText),
	text1("trimspace", strings.TrimSpace), text1("chomp", func(s string) string { return strings.TrimRight(s, "\r\n") }),
	text2("trimprefix", strings.TrimPrefix), text2("trimsuffix", strings.TrimSuffix),
	test2("startswith", strings.HasPrefix), test2("endswith", strings.HasSuffix), test2("strcontains", strings.Contains),
	{name: "trim", sig: "string string?", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		if len(a) == 1 {
			return strings.TrimSpace(a[0].(string)), nil
		}
		return strings.Trim(a[0].(string), a[1].(string)), nil
	}},
	{name: "indexOf", sig: "string string", result: constant(value.IntType), call: func(r *run, a []value.Value) (value.Value, error) {
		return float64(strings.Index(a[0].(string), a[1].(string))), nil
	}},
	{name: "lastIndexOf", sig: "string string", result: constant(value.IntType), call: func(r *run, a []value.Value) (value.Value, error) {
		return float64(strings.LastIndex(a[0].(string), a[1].(string))), nil
	}},
	{name: "split", sig: "string string", result: constant(value.List(value.StringType)), call: split},
	{name: "join", sig: "string strings strings...", result: constant(value.StringType), call: joinTexts},
	{name: "\x00joinparts", sig: "strings", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		return joinTexts(r, []value.Value{"", a[0]})
	}},
	{name: "replace", sig: "string string string", result: constant(value.StringType), call: replace},
	{name: "substr", sig: "string index index", result: constant(value.StringType), call: substr},
	{name: "repeat", sig: "string index", result: constant(value.StringType), call: repeat},
	{name: "indent", sig: "index string", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		n, s := a[0].(float64), a[1].(string)
		if n < 0 || n > 1000 {
			return nil, fmt.Errorf("an indent of %s; 0 to 1000 are possible", textOf(n))
		}
		if err := r.text(len(s) + strings.Count(s, "\n")*int(n)); err != nil {
			return nil, err
		}
		return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", int(n))), nil
	}},
	{name: "regex", sig: "string string", call: func(r *run, a []value.Value) (value.Value, error) {
		re, err := r.pattern(a[0].(string), a[1].(string))
		if err != nil {
			return nil, err
		}
		m := re.FindStringSubmatchIndex(a[1].(string))
		if m == nil {
			return nil, fmt.Errorf("the pattern %q matches nothing in %q", a[0], shorten(a[1].(string)))
		}
		return groups(re, a[1].(string), m), nil
	}},
	{name: "regexall", sig: "string string", result: constant(value.List(value.AnyType)), call: func(r *run, a []value.Value) (value.Value, error) {
		re, err := r.pattern(a[0].(string), a[1].(string))
		if err != nil {
			return nil, err
		}
		matches := re.FindAllStringSubmatchIndex(a[1].(string), MaxRange+1)
		if err := r.list(len(matches) * (1 + re.NumSubexp())); err != nil {
			return nil, err
		}
		out := make([]any, len(matches))
		for i, m := range matches {
			out[i] = groups(re, a[1].(string), m)
		}
		return out, nil
	}},
}

func text1(name string, f func(string) string) function {
	return function{name: name, sig: "string", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		s := f(a[0].(string))
		return s, r.text(len(s))
	}}
}

func text2(name string, f func(a, b string) string) function {
	return function{name: name, sig: "string string", result: constant(value.StringType), call: func(r *run, a []value.Value) (value.Value, error) {
		return f(a[0].(string), a[1].(string)), nil
	}}
}

func test2(name string, f func(a, b string) bool) function {
	return function{name: name, sig: "string string", result: constant(value.BoolType), call: func(r *run, a []value.Value) (value.Value, error) {
		return f(a[0].(string), a[1].(string)), nil
	}}
}

// title makes the first letter of every word upper case.
func title(s string) string {
	inWord := false
	return strings.Map(func(c rune) rune {
		letter := unicode.IsLetter(c) || unicode.IsDigit(c) || c == '\'' || c == '_'
		if letter && !inWord {
			c = unicode.ToTitle(c)
		}
		inWord = letter
		return c
	}, s)
}

func reverseText(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

func split(r *run, a []value.Value) (value.Value, error) {
	sep, s := a[0].(string), a[1].(string)
	n := strings.Count(s, sep) + 1
	if sep == "" {
		n = utf8.RuneCountInString(s)
	}
	if err := r.list(n); err != nil {
		return nil, err
	}
	out := make([]any, 0, n)
	for _, part := range strings.Split(s, sep) {
		out = append(out, part)
	}
	return out, nil
}

func joinTexts(r *run, a []value.Value) (value.Value, error) {
	sep, size := a[0].(string), 0
	for _, list := range a[1:] {
		for _, e := range list.([]any) {
			size += len(e.(string)) + len(sep)
		}
	}
	if err := r.text(size); err != nil {
		return nil, err
	}
	var b strings.Builder
	first := true
	for _, list := range a[1:] {
		for _, e := range list.([]any) {
			if !first {
				b.WriteString(sep)
			}
			first = false
			b.WriteString(e.(string))
		}
	}
	return b.String(), nil
}

// replace replaces every occurrence. As in Terraform, a text in slashes is a pattern.
func replace(r *run, a []value.Value) (value.Value, error) {
	s, old, with := a[0].(string), a[1].(string), a[2].(string)
	if len(old) > 1 && old[0] == '/' && old[len(old)-1] == '/' {
		re, err := r.pattern(old[1:len(old)-1], s)
		if err != nil {
			return nil, err
		}
		// Each match costs at most the replacement with every $ expanded to the whole text.
		n := len(re.FindAllStringIndex(s, -1))
		if err := r.text(len(s) + n*(len(with)+strings.Count(with, "$")*longestMatch(re, s))); err != nil {
			return nil, err
		}
		return re.ReplaceAllString(s, with), nil
	}
	if err := r.text(max(0, len(s)+strings.Count(s, old)*(len(with)-len(old)))); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s, old, with), nil
}

func longestMatch(re *regexp.Regexp, s string) int {
	n := 0
	for _, m := range re.FindAllStringIndex(s, -1) {
		n = max(n, m[1]-m[0])
	}
	return n
}

// substr counts characters. A negative offset counts from the end; a length of -1 reaches to the end.
func substr(r *run, a []value.Value) (value.Value, error) {
	runes := []rune(a[0].(string))
	if err := r.work(len(runes) / 16); err != nil {
		return nil, err
	}
	size := float64(len(runes))
	from, n := a[1].(float64), a[2].(float64)
	if from < 0 {
		from = max(0, size+from)
	}
	if n < 0 {
		n = size
	}
	from = min(from, size)
	return string(runes[int(from):int(min(size, from+n))]), nil
}

func repeat(r *run, a []value.Value) (value.Value, error) {
	s, n := a[0].(string), a[1].(float64)
	if n < 0 {
		return nil, fmt.Errorf("a text repeated %s times", textOf(n))
	}
	if float64(len(s))*n > MaxStringBytes {
		return nil, r.text(MaxStringBytes + 1)
	}
	if err := r.text(len(s) * int(min(n, MaxStringBytes))); err != nil || s == "" {
		return "", err
	}
	return strings.Repeat(s, int(n)), nil
}
