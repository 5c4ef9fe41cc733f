package syntax

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

var (
	unquoted  = lazyregexp.New(`^\s*([A-Za-z_][A-Za-z0-9_-]*)\s*=\s*([A-Za-z0-9_./-][^"'{}\[\]()=#?<>&|]*)$`)
	heredoc   = lazyregexp.New(`<<-?([A-Za-z_][A-Za-z0-9_-]*)$`)
	asked     = lazyregexp.New(`^\s*(\w+(?:\s+"[^"]*")?\s*\{\s*)?(when|if|until|check|accept|condition|match|join)\s*=\s*([^="\s].*)$`)
	templated = lazyregexp.New(`^\s*(?:\w+(?:\s+"[^"]*")?\s*\{\s*)?(when|until|check|accept|condition|match|join)\s*=\s*"\$\{([^{}"]*)\}"`)
	compare   = lazyregexp.New(`[<>!=]=+|=[<>~]?|<>`)
	oneLiner  = lazyregexp.New(`^\s*[A-Za-z_][A-Za-z0-9_-]*(?:\s+"[^"]*")*\s*\{\s*[A-Za-z_][A-Za-z0-9_-]*\s*=.*[^{(\[,]$`)
	yamlValue = lazyregexp.New(`^\s*([A-Za-z_][A-Za-z0-9_-]*)\s*:\s*([A-Za-z0-9_./-][^"'{}\[\]#&|>]*?)\s*$`)
	colon     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*\s*:`)
)

// habit says more definitely than HCL what is wrong where it comes from the habits of other languages.
func habit(f *File, d *diag.Diagnostic) {
	at := min(d.Subject.Start.Byte, len(f.Src))
	line, rest := f.lineAt(at), f.Src[at:]
	begins := func(s string) bool { return bytes.HasPrefix(rest, []byte(s)) }
	single := begins("=") && !begins("==")
	switch {
	case unquotedCondition(d, line):
	case d.Code == "F0026" && single:
		d.Summary = "A second equals sign on a line"
		d.Detail = "An attribute has one equals sign. Two values are compared with ==:  ready = local.a == local.b."
	case (d.Code == "F0028" || d.Code == "F0035") && single && strings.ContainsAny(line[:at-lineStart(f.Src, at)], "[({"):
		d.Summary = "A single = in an expression"
		d.Detail = "Two values are compared with ==."
	case d.Code == "F0028" && (begins("}") || begins("=")):
		d.Code, d.Summary = "F0030", "List or call without its closing bracket"
		d.Detail = "A ] or ) is missing before this."
	case d.Code == "F0044" && begins("*"):
		d.Code, d.Summary, d.Detail = "F0040", "Operator that does not exist", "There are + - * / %, == != < <= > >=, && || ! and CONDITION ? A : B. Powers are pow(BASE, EXPONENT)."
	case d.Code == "F0040" && blockScalar().MatchString(line):
		m := blockScalar().FindStringSubmatch(line)
		d.Summary = yamlScalar
		d.Detail = fmt.Sprintf("Write a heredoc:  %s = <<-EOT, the lines, and EOT alone on a line.", m[1])
	case d.Code == "F0041" && begins("\\") && at > 0 && f.Src[at-1] == '"':
		textAfter(d)
		d.Detail += " A heredoc needs no \\: <<-EOT, the lines, and EOT alone on a line."
	case d.Code == "F0041" && begins("$"):
		d.Summary = "A $ outside of quotes"
		d.Detail = "Write only the name, such as input.target; ${…} is allowed only inside quotes. Use shell variables in a script: run = \"echo $HOME\"."
	case d.Code == "F0027" && colon().Match(rest):
		if m := yamlValue().FindStringSubmatch(line); m != nil {
			d.Summary, d.Detail = "Colon where an equals sign is needed", fmt.Sprintf("This is not YAML: an attribute is  name = value, with quotes around text:  %s = %s.", m[1], plainValue(m[2]))
			return
		}
		d.Summary = "Colon where an equals sign or a block is needed"
		d.Detail = "This is not YAML: attributes are  name = value, with quotes around text; a part with several attributes is a block,  kind \"label\" { … }."
	case d.Code == "F0026" && at > 0 && f.Src[at-1] == '"':
		textAfter(d)
	case d.Code == "F0026":
		if m := unquoted().FindStringSubmatch(line); m != nil {
			d.Summary = "Text without quotes"
			d.Detail = fmt.Sprintf("Text needs double quotes, even if it is a number with a unit:  %s = %q.", m[1], strings.TrimSpace(m[2]))
		}
	case d.Code == "F0025":
		if text := strings.TrimRight(line, " \t"); oneLiner().MatchString(text) && strings.Count(text, "{")-strings.Count(text, "}") == 1 {
			d.Code, d.Summary, d.Detail = "F0022", "Block without its closing brace", fmt.Sprintf("A block that begins on one line with its attribute ends there, so its brace is missing at the end of the line:  %.100s }. For more attributes, begin a new line after the { instead.", strings.TrimSpace(text))
		}
	case d.Code == "F0022":
		unclosed(f, d)
	}
}

func textAfter(d *diag.Diagnostic) {
	d.Summary = "Text after the end of a string"
	d.Detail = "The string ends at the quote before this. Inside a string a quote is written \\\", or in a condition ' around its texts: when = \"step.build.status == 'failed'\"."
}

// yamlScalar is the summary of a text over several lines that is written as in YAML.
const yamlScalar = "Text over several lines as in YAML"

// outsideScalars leaves out the findings in the lines of a text that is written as in YAML: the lines are not HCL.
func (f *File) outsideScalars(list diag.List) diag.List {
	for _, d := range list {
		if d.Summary != yamlScalar {
			continue
		}
		first, end := d.Subject.Start.Line, f.endOfScalar(d.Subject.Start.Byte)
		list = slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool {
			return d.Subject.Start.Line > first && d.Subject.Start.Byte < end
		})
	}
	return list
}

// endOfScalar returns where the text of YAML ends whose | is at an offset: before the first line that is not indented deeper.
func (f *File) endOfScalar(at int) int {
	depth := func(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " \t")) }
	outer := depth([]byte(f.lineAt(at)))
	next := func() bool {
		n := bytes.IndexByte(f.Src[at:], '\n')
		at += n + 1
		return n >= 0
	}
	for next() {
		if line, _, _ := bytes.Cut(f.Src[at:], []byte("\n")); len(bytes.TrimSpace(line)) > 0 && depth(line) <= outer {
			return at
		}
	}
	return len(f.Src)
}

var blockScalar = lazyregexp.New(`^\s*([A-Za-z_][A-Za-z0-9_-]*)\s*=\s*[|>][+-]?\s*$`)

// plainValue writes a value of YAML.
func plainValue(text string) string {
	if plainWord().MatchString(text) {
		return text
	}
	return fmt.Sprintf("%q", text)
}

var plainWord = lazyregexp.New(`^(?:true|false|null|[0-9]+(?:\.[0-9]+)?)$`)

// unquotedCondition says how a condition is written that stands in its attribute as in a programming language, where HCL could
// not read it. Those that it could read are told by the checker, in the same words.
func unquotedCondition(d *diag.Diagnostic, line string) bool {
	if m := templated().FindStringSubmatch(line); m != nil && d.Code == "F0036" {
		d.Summary, d.Detail = "A condition has no ${}", fmt.Sprintf("Write it as  %s = \"%s\".", m[1], strings.TrimSpace(m[2]))
		return true
	}
	m := asked().FindStringSubmatch(line)
	if m == nil || !slices.Contains([]string{"F0025", "F0026", "F0028", "F0030", "F0036", "F0040", "F0041", "F0044"}, d.Code) {
		return false
	}
	text := strings.TrimSpace(m[3])
	if m[1] != "" {
		text = strings.TrimSpace(strings.TrimSuffix(text, "}"))
	}
	if strings.ContainsAny(text, "\\`$%{}#;") {
		return false
	}
	right := compare().ReplaceAllStringFunc(text, func(op string) string {
		if better := map[string]string{"=": "==", "===": "==", "!==": "!=", "=>": ">=", "=<": "<=", "<>": "!=", "=~": "matches"}[op]; better != "" {
			return better
		}
		return op
	})
	d.Summary = "A condition is a text in quotes"
	name := m[2]
	if name == "if" {
		name, right = "when", WithoutSuccess(right)
	}
	d.Detail = fmt.Sprintf("Write it as  %s = \"%s\".", name, strings.ReplaceAll(right, `"`, "'"))
	if right != text && m[2] != "if" {
		d.Detail += " It compares with == != < <= > >= and never assigns."
	}
	return true
}

// WithoutSuccess takes the success() of GitHub Actions out of a condition that it begins or ends: a node runs only if the nodes that it needs have
// succeeded.
func WithoutSuccess(condition string) string {
	if strings.Contains(condition, "||") {
		return condition
	}
	rest := strings.TrimSpace(condition)
	for _, and := range []string{" && ", "&&"} {
		rest = strings.TrimSuffix(strings.TrimPrefix(rest, "success()"+and), and+"success()")
	}
	return rest
}

// lineAt is the line that an offset lies in.
func (f *File) lineAt(at int) string {
	line, _, _ := bytes.Cut(f.Src[lineStart(f.Src, at):], []byte("\n"))
	return string(line)
}

// lineStart is where the line begins that an offset lies in.
func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }

// unclosed looks for the block whose brace is missing by the one thing that tells: a line that is indented no more than
// the block that it would lie in. HCL names the outermost block, because the brace of another closes each one inside.
func unclosed(f *File, d *diag.Diagnostic) {
	type open struct{ indent, end int }
	var stack []open
	marker := "" // of the heredoc that a line lies in
	for start := 0; start < len(f.Src); {
		line := f.lineAt(start)
		text, from := strings.TrimSpace(line), start
		start += len(line) + 1
		if marker != "" || text == "" || text[0] == '#' || strings.HasPrefix(text, "//") {
			if text == marker {
				marker = ""
			}
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if n := len(stack); n > 0 && indent <= stack[n-1].indent {
			if !strings.ContainsAny(text[:1], "})]") || indent < stack[n-1].indent {
				d.Subject = f.Range(stack[n-1].end-1, stack[n-1].end)
				d.Detail = "The brace that closes it is missing: the next lines are indented as if the block had ended."
				d.Notes = []diag.Note{{Text: "this is still inside it", Range: f.Range(from+indent, from+indent+len(text))}}
				return
			}
			stack = stack[:n-1]
		}
		if strings.HasSuffix(text, "{") {
			stack = append(stack, open{indent, from + indent + len(text)})
		}
		if m := heredoc().FindStringSubmatch(text); m != nil {
			marker = m[1]
		}
	}
	if n := len(stack); n > 0 {
		d.Subject = f.Range(stack[n-1].end-1, stack[n-1].end)
		d.Detail = "The file ends before the brace that closes this block."
	}
}
