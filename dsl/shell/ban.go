package shell

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// ban is why a value cannot stand in a place, and what to do. {value} stands for the value's expression, in ${ } as the
// file has it; {expr} for the expression alone.
type ban struct {
	code, summary, detail string
	via                   string // the variable that holds the value
	shell                 bool   // of what is read: a shell runs it
}

// by is the reason for a value that a variable holds.
func (b *ban) by(name string) *ban {
	c := *b
	if name == input {
		return &c
	}
	c.via = name
	if f, ok := strings.CutSuffix(name, outOf); ok {
		c.detail = fmt.Sprintf("The function %s prints it. %s", f, c.detail)
		return &c
	}
	if f, ok := strings.CutPrefix(name, fileOf); ok {
		c.detail = fmt.Sprintf("The script writes it to the file %s. %s", f, c.detail)
		return &c
	}
	if !strings.Contains(c.detail, "$"+name) {
		c.detail = fmt.Sprintf("The script's variable %s holds it. %s", name, c.detail)
	}
	if c.code == "F0250" { // the script goes on with the variable
		c.detail = strings.ReplaceAll(c.detail, "{value}", `"$`+name+`"`)
	}
	return &c
}

// of makes the finding for a value.
func (b *ban) of(v Part) diag.Diagnostic {
	text := show(v.Text)
	fill := strings.NewReplacer("{value}", "${"+text+"}", "{expr}", text).Replace
	return diag.Diagnostic{Code: b.code, Subject: v.Range, Summary: fill(b.summary), Detail: fill(b.detail)}
}

// maxShown is how much of an expression a message repeats.
const maxShown = 60

func show(text string) string {
	if len(text) > maxShown || strings.ContainsAny(text, "\n\"") {
		return "VALUE"
	}
	return text
}

// The places that are the shell's own.
var (
	banCommand = &ban{code: "F0232", summary: "A value as the name of a command",
		detail: "The program must be a literal, so that no value decides what runs. Choose between literal programs:  case {value} in a) PROGRAM-A ;; b) PROGRAM-B ;; esac  in a script, CONDITION ? \"a\" : \"b\"  in a list; or declare the value with an enum of them."}
	banArithmetic = &ban{code: "F0233", summary: "A value in arithmetic",
		detail: "bash runs commands that it finds in the text of a number: a[$(COMMAND)]. Declare the value as a number (type = number): numbers are allowed here. Or let flowrun compute it, as in ${{expr} + 1}; or compare with  [ {value} -gt 3 ], which accepts only digits."}
	banAnsi = &ban{code: "F0234", summary: "A value between $ quotes",
		detail: "The shell interprets $'…' and $\"…\". End the quotes before the value:  $'…'{value}$'…'."}
	banQuotedHeredoc = &ban{code: "F0235", summary: "A value in a here-document with a quoted delimiter",
		detail: "With a quoted delimiter, the shell does not expand the document. Remove the quotes, and put a backslash before each literal $ and `; or pass the text with  stdin = …  instead of a here-document."}
	banPattern = &ban{code: "F0237", summary: "A value in a pattern",
		detail: "A value would either match only itself, or act as a pattern. Compare with  [ \"$x\" = {value} ], or let flowrun match:  regexall(PATTERN, {expr})."}
	banDescriptor = &ban{code: "F0243", summary: "A value as the number of an open file",
		detail: "Write the number out. For a file use > or <."}
	banPlace = &ban{code: "F0244", summary: "A value in a place where it cannot be data",
		detail: "Assign it first, with  v={value}, and use \"$v\" here."}
	banEscaped = &ban{code: "F0245", summary: "A backslash before a value",
		detail: "The backslash would escape the reference to the value. Remove it, or double it for a literal backslash."}
	banSetting = &ban{code: "F0246", summary: "A value in a variable that decides what programs run",
		detail: "The shell, or programs that it starts, run or load the content of this variable. Write a literal, or choose between literals:  case {value} in …."}
	banArray = &ban{code: "F0253", summary: "A value in the declaration of an array",
		detail: "bash evaluates the text again as a list in parentheses, and runs the commands in it. Assign it after the declaration, to a member:  declare -a x; x[0]={value}."}
	banName = &ban{code: "F0247", summary: "A value as the name of a shell variable",
		detail: "bash runs commands that it finds in a name: a[$(COMMAND)]. Write the name out."}
	banFormat = &ban{code: "F0249", summary: "A value in the format of printf",
		detail: "printf reads % and \\ in its format. Write the format as a literal, and pass the value as an argument:  printf '%s\\n' {value}."}
	banEval = &ban{code: "F0238", summary: "A value in text that the shell runs later",
		detail: "eval, trap, alias and complete evaluate their text again as a script, so a value in it would become code. Put the command into a function that reads a variable:  v={value}; clean() { rm -- \"$v\"; }; trap clean EXIT."}
	banSource = &ban{code: "F0239", summary: "A value as the file to run",
		detail: "The script must be a literal, so that no value decides what runs. Choose between literal files:  case {value} in …."}
	banWritten = &ban{code: "F0239", summary: "A value in a file that the script writes and runs",
		detail: "The script runs this file, so a value in it would become code. Let the file read the value from its arguments or from the environment:  sh FILE {value}, and \"$1\" in the file."}
	banFolder = &ban{code: "F0239", summary: "A value as the folder of the program",
		detail: "The path of the script or program is relative to this folder, so the value decides what runs. Use a path that begins with /, or run it in a literal folder with {value} as an argument; or declare the value with an enum of folders."}
	banFar = &ban{code: "F0248", summary: "A value that goes through too many variables",
		detail: "It passes through more than 50 variables, and flowrun follows no further. Use the value directly."}
	banUnquoted = &ban{code: "F0247", summary: "A value in words of [ without quotes",
		detail: "Without quotes the shell splits the text into words, and a word such as -v reads the next one as a name: a[$(COMMAND)]. Put quotes around the variable:  [ \"$v\" = prod ]."}
	banTest = &ban{code: "F0241", summary: "A value in [[ ]], which sh does not have",
		detail: "Use  [ \"$x\" = {value} ], or say  shell = \"bash\"."}
)

// banCode is for text that a program runs.
func banCode(tool, how string) *ban {
	if how == "" {
		how = howEnv
	}
	return &ban{code: "F0240", summary: fmt.Sprintf("A value in text that %s runs", tool),
		detail: fmt.Sprintf("%s evaluates this text again, so a value in it would become code. %s", tool, how)}
}

// banInput is for what a program reads and runs.
func banInput(tool string) *ban {
	return &ban{code: "F0242", summary: fmt.Sprintf("A value in the standard input of %s, which runs it", tool),
		detail: fmt.Sprintf("Here %s runs its standard input as a program, so a value in it would become code. Write the text as a literal, with a quoted here-document delimiter, and pass the value separately. %s", tool, howEnv)}
}

// banOption is for a word that could be an option.
func banOption(tool, how string) *ban {
	if how == "" {
		how = fmt.Sprintf("Put -- before the words that are not options:  %s … -- {value}.", tool)
	}
	return &ban{code: "F0250", summary: fmt.Sprintf("A value that could be an option of %s", tool),
		detail: fmt.Sprintf("A value that begins with - would be an option, and %s has options that run programs or write files. %s", tool, how)}
}

// banUnknown is for a word that could be an option of a program that the table does not have.
func banUnknown(tool string) *ban {
	return &ban{code: "F0250", summary: fmt.Sprintf("A value that could be an option of %s", tool),
		detail: fmt.Sprintf("A value that begins with - may be an option here, and flowrun does not know which options of %s run programs or write files. Put -- before the words that are not options:  %s … -- {value}; write text before it, such as ./{value} for a file; or write an option and its value as one word:  --name={value}.", tool, tool)}
}

// banXargs is for what xargs puts behind the words of a command.
func banXargs(tool string, why *ban) *ban {
	return &ban{code: "F0242", summary: fmt.Sprintf("A value that xargs passes to %s", tool),
		detail: fmt.Sprintf("xargs splits its input into words, and a word that begins with - would be an option of %s, or the program that it runs (%s). End the options with --:  xargs %s --.", tool, why.code, tool)}
}

const howEnv = "Give the value in the environment,  env = { V = {expr} }, and read it there by the program's own means, such as \"$V\"."
