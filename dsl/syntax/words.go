package syntax

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/flowrun/flowrun/dsl/diag"
)

// word is how we say what HCL found. An empty summary or detail keeps HCL's own.
type word struct {
	in            string // a part of HCL's summary and detail, the first that fits wins
	code          string
	summary, text string
}

// words maps what hcl v2.25.0 reports to codes and to words about workflow files.
var words = []word{
	{"Attribute redefined", "F0020", "Attribute set twice", "A block can have each attribute only once. Remove one of the two."},
	{"must not be quoted", "F0021", "Attribute name in quotes", "Write attribute names without quotes: timeout = \"5m\"."},
	{"Unclosed configuration", "F0022", "Block without its closing brace", "The file ends before the brace that closes this block. The brace may also be missing further in; indentation shows where."},
	{"must not be used when defining a block", "F0023", "Block with an equals sign", "A block is its kind, its label and a brace, without an equals sign: step \"test\" { … }."},
	{"Invalid block definition", "F0024", "Block header not complete", "A block is its kind, a label in quotes and an opening brace on the same line: step \"test\" {"},
	{"single-line block", "F0025", "Too much on one line", "A block on a single line may hold one attribute, and no block. Put each on its own line."},
	{"single-argument block", "F0025", "Too much on one line", "A block on a single line may hold one attribute, and no block. Put each on its own line."},
	{"Unexpected comma", "F0054", "Comma after an attribute", "An attribute ends with its line. Remove the comma; only members of lists and objects have commas between them."},
	{"Missing newline after", "F0026", "More than one thing on a line", "Every attribute and block ends its line. Begin a new line here; expressions may continue over lines only inside brackets."},
	{"block definition required", "F0027", "Neither an attribute nor a block", "A line in a block is  name = value  or  kind \"label\" { … }. Text needs quotes; comments begin with #."},
	{"Missing item separator", "F0028", "Missing comma between the members of a list", "Members of a list are separated by commas."},
	{"Missing argument separator", "F0028", "Missing comma between the arguments of a function", "Arguments are separated by commas."},
	{"Missing attribute separator", "F0028", "Missing comma or new line in an object", "Separate the members of an object by commas or new lines."},
	{"Missing key/value separator", "F0029", "Missing equals sign in an object", "A member of an object is  name = value. A name with a dot, a blank or another character needs quotes."},
	{"Missing attribute value", "F0029", "Missing value in an object", "A member of an object is  name = value."},
	{"Unterminated tuple", "F0030", "List without its closing bracket", "The file ends before the ] that closes this list."},
	{"Unterminated object", "F0030", "Object without its closing brace", "The file ends before the } that closes this object."},
	{"Unterminated function call", "F0030", "Function call without its closing parenthesis", "The file ends before the ) that closes this call."},
	{"Unbalanced parentheses", "F0030", "Missing closing parenthesis", "A ) is needed before this."},
	{"Missing close bracket", "F0030", "Missing closing bracket", "An index ends with ]."},
	{"Unterminated string", "F0031", "String without its closing quote", "A string begins and ends with a double quote on the same line."},
	{"Unterminated template", "F0031", "Text without its end", "A string ends with a double quote; a heredoc ends with its marker alone on a line."},
	{"Invalid multi-line string", "F0031", "String without its closing quote", "A string begins and ends with a double quote on the same line."},
	{"Invalid escape sequence", "F0033", "Unknown escape in a string", "Known are \\n, \\r, \\t, \\\", \\\\, \\uNNNN and \\UNNNNNNNN. A backslash itself is written \\\\."},
	{"Unclosed template interpolation", "F0034", "Missing } after ${", "An expression that begins with ${ ends with }. For a literal ${, write $${."},
	{"Extra characters after interpolation", "F0035", "More than an expression between ${ and }", "flowrun reads ${…} itself. For a shell expansion such as ${NAME:-default}, write $${NAME:-default}."},
	{"Single quotes", "F0036", "String in single quotes", "Strings need double quotes."},
	{"Curly quotes", "F0037", "Typographic quotes", "Strings need straight double quotes. Text copied from a document often has other quotes."},
	{"\"`\" character", "F0038", "Back quote outside of a string", "Strings need double quotes; for text over several lines, use a heredoc: <<EOT, the lines, EOT."},
	{"\";\" character", "F0039", "Semicolon between attributes", "Attributes end with their line, members of lists with a comma."},
	{"Unsupported operator", "F0040", "", ""},
	{"Invalid character", "F0041", "Character that is not part of the language", "Text needs double quotes; comments begin with #."},
	{"'for' expression", "F0042", "Expression with for is not complete", ""},
	{"directive", "F0043", "Template directive is not complete", ""},
	{"template", "F0043", "Template directive is not complete", ""},
	{"control keyword", "F0043", "Unknown template directive", ""},
	{"marker", "F0043", "Template directive is not complete", ""},
	{"Missing expression", "F0044", "Missing value", "The file ends where a value is needed."},
	{"Invalid expression", "F0044", "Missing value", "A value is needed here: text in quotes, a number, true, false, null, [list], { object } or a reference."},
	{"Missing false expression", "F0045", "Conditional without its second result", "Write  condition ? when_true : when_false."},
	{"Invalid attribute name", "F0046", "Missing name after a dot", "Names after a dot have no quotes, such as step.build.output."},
	{"Invalid number literal", "F0047", "Number is not valid", "Numbers are written 12, 1.5 or 1e3."},
	{"Invalid string literal", "F0048", "Label that is not plain text", "A label is a name in quotes, without ${} in it."},
}

// vague findings are what follows where something more definite was found on the same line.
var vague = map[string]bool{"F0026": true, "F0027": true, "F0028": true, "F0044": true, "F0049": true}

// endless findings follow from each other: one lost quote or brace makes every line after it wrong.
var endless = map[string]bool{"F0031": true, "F0034": true}

// keep adds a finding to those of a file, one for each line, the more definite one.
func keep(list diag.List, d diag.Diagnostic) diag.List {
	for i, before := range list {
		switch {
		case endless[before.Code] && endless[d.Code]:
			return list
		case before.Subject.Start.Line != d.Subject.Start.Line:
		case vague[before.Code] && !vague[d.Code]:
			list[i] = d
			return list
		default:
			return list
		}
	}
	if len(list) == MaxSyntaxErrors {
		return list
	}
	return append(list, d)
}

// translate puts HCL's finding into our words.
func translate(f *File, p *hcl.Diagnostic) diag.Diagnostic {
	d := diag.Diagnostic{Code: "F0049", Summary: p.Summary, Detail: p.Detail}
	if p.Subject != nil {
		d.Subject = oneLine(f, Range(*p.Subject))
	}
	if d.Subject.File == "" {
		d.Subject.File = f.Name
	}
	for _, w := range words {
		if strings.Contains(p.Summary, w.in) || strings.Contains(p.Detail, w.in) {
			d.Code = w.code
			if w.summary != "" {
				d.Summary = w.summary
			}
			if w.text != "" {
				d.Detail = w.text
			}
			break
		}
	}
	habit(f, &d)
	return d
}

// oneLine keeps a caret range on the line where it begins; HCL often reports a line end as the place of an error.
func oneLine(f *File, r diag.Range) diag.Range {
	if r.End.Line > r.Start.Line {
		end := r.Start.Byte
		for end < len(f.Src) && f.Src[end] != '\n' {
			end++
		}
		r.End = diag.Pos{Line: r.Start.Line, Column: r.Start.Column + max(1, end-r.Start.Byte), Byte: end}
	}
	return r
}
