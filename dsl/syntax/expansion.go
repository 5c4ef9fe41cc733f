package syntax

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// Scripts that were written for a shell hold ${f%.txt}, ${#list[@]} and %{http_code}, which HCL takes for the beginning of a template
// and reports where it can go on no more, often far behind. They are found here by their form, and where HCL cannot read one, that
// is the finding.

var (
	// expansion is what begins an expansion of the shell and no reference: ${#a[@]}, ${!v}, ${f%x}, ${V:-x}, ${a[@]}, ${1}, ${@}.
	expansion = lazyregexp.New(`^\$\{(?:\{|[#!][A-Za-z_]|[A-Za-z_][A-Za-z0-9_]*(?:\[[@*]\]|(?:\[[^\]\n]*\])?[#%/:^,@+=?-])|[#!]?(?:[0-9]+|[@*?$!#-])[#%/:^,@+=?}-])`)
	// comment is an expansion in which HCL sees a comment: ${#a}, ${f#x}, ${f//x/y}.
	comment = lazyregexp.New(`^(?:[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]*\])?)?(?:#|//|/\*)`)
	// variable is what other programs replace: %{http_code}.
	variable = lazyregexp.New(`^%\{[A-Za-z_][A-Za-z0-9_.]*\}`)
)

// ShellName is an expansion of the shell that HCL can read as well, as an expression: ${V/a/b}, ${!v}, ${a[0]}, ${v}.
var ShellName = lazyregexp.New(`^!?[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]*\])?(?:[%/+?-][^ ]*)?$`)

// noteExpansion notes what looks like an expansion of the shell where a template begins. It returns how far the scan can go on
// behind it, where a # in it would be taken for a comment, and 0 elsewhere.
func (s *scanner) noteExpansion() int {
	rest := s.src[s.i:]
	if s.at("%{") {
		if m := variable().Find(rest); m != nil && !slices.Contains([]string{"%{else}", "%{endif}", "%{endfor}"}, string(m)) {
			s.note(rest)
		}
		return 0
	}
	if expansion().Match(rest) {
		if end := s.note(rest); end > 0 && comment().Match(rest[2:end]) {
			return end
		}
	}
	return 0
}

func (s *scanner) note(rest []byte) int {
	end := closing(rest)
	if end > 0 && len(s.expansions) < MaxSyntaxErrors {
		s.expansions = append(s.expansions, [2]int{s.i, s.i + end})
	}
	return end
}

// maxExpansion bounds how far the end of an expansion is looked for, in bytes.
const maxExpansion = 512

// closing is the offset behind the brace that closes a ${ or %{ at the start of a text, on the same line, or 0.
func closing(text []byte) int {
	depth := 0
	for i, b := range text[:min(len(text), maxExpansion)] {
		switch b {
		case '\n':
			return 0
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// shellText reports those of the noted places that HCL cannot read, and parses the file without them for what else is wrong.
func (f *File) shellText(noted [][2]int, most Limits) diag.List {
	var list diag.List
	src := bytes.Clone(f.Src)
	for _, at := range noted {
		text := f.Src[at[0]:at[1]]
		inner := text[2 : len(text)-1]
		if text[0] == '$' && !comment().Match(inner) {
			if _, problems := hclsyntax.ParseExpression(inner, f.Name, hcl.InitialPos); !problems.HasErrors() {
				continue
			}
		}
		list = append(list, Expansion(string(text), f.Range(at[0], at[1])))
		for i := at[0]; i < at[1]; i++ {
			src[i] = '_'
		}
	}
	if len(list) == 0 || len(noted) == MaxSyntaxErrors {
		return list
	}
	_, rest := parse(f.Name, src, most)
	return append(list, rest...).Sort()
}

// Expansion is the finding about an expansion of the shell, or a % sign of a program, that a text has by itself.
func Expansion(text string, at diag.Range) diag.Diagnostic {
	switch {
	case strings.HasPrefix(text, "${{"):
		written, most := "step.build.output", 40
		if inner := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "${{"), "}}")); dottedName().MatchString(inner) && len(inner) <= most {
			written = inner
		}
		return diag.Diagnostic{Code: "F0035", Subject: at, Summary: "${{ … }} is not read by flowrun",
			Detail: fmt.Sprintf("In a text, write one brace: \"${%s}\". In a condition, write names without braces: when = \"%s == 'x'\".", written, written)}
	case text[0] == '%':
		return diag.Diagnostic{Code: "F0043", Subject: at, Summary: fmt.Sprintf("%.60s is read by flowrun, not by a program", text),
			Detail: fmt.Sprintf("In a text, %%{ begins a directive of flowrun. Where the two characters are meant for a program, double the sign:  %%%.60s.", text),
			Edit:   &diag.Edit{Range: at, Text: "%" + text}}
	}
	d := diag.Diagnostic{Code: "F0210", Subject: at, Summary: fmt.Sprintf("%.60s is read by flowrun, not by the shell", text),
		Detail: fmt.Sprintf("In a text, ${ begins a value of flowrun. For the shell's own, double the sign:  $%.60s.", text),
		Edit:   &diag.Edit{Range: at, Text: "$" + text}}
	if name := text[2 : len(text)-1]; simpleName().MatchString(name) {
		d.Detail = fmt.Sprintf("For the shell's own variable write $%s, or $%s.", name, text)
	}
	return d
}

// IsName reports whether the text of an interpolation is a name alone.
func IsName(text string) bool { return simpleName().MatchString(text) }

// dottedName matches names with dots: step.build.output.
var dottedName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)+$`)

var simpleName = lazyregexp.New(`^(?:[A-Za-z_][A-Za-z0-9_]*|[0-9])$`)
