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
		c.detail = fmt.Sprintf("The function %s puts it out. %s", f, c.detail)
		return &c
	}
	if f, ok := strings.CutPrefix(name, fileOf); ok {
		c.detail = fmt.Sprintf("The script writes it to the file %s. %s", f, c.detail)
		return &c
	}
	if !strings.Contains(c.detail, "$"+name) {
		c.detail = fmt.Sprintf("The script's variable %s holds it. %s", name, c.detail)
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
	banCommand = &ban{code: "F0232", summary: "A value where the name of a command stands",
		detail: "Which program runs is written out, so that no value decides it. Choose between programs that are written out:  case {value} in a) PROGRAM-A ;; b) PROGRAM-B ;; esac  in a script, CONDITION ? \"a\" : \"b\"  in a list; or declare the value with an enum of them."}
	banArithmetic = &ban{code: "F0233", summary: "A value in arithmetic",
		detail: "bash runs commands that it finds in the text of a number: a[$(COMMAND)]. Declare the value as a number (type = number): numbers can stand here. Or let flowrun do the sum, as in ${{expr} + 1}; or compare with  [ {value} -gt 3 ], which takes digits alone."}
	banAnsi = &ban{code: "F0234", summary: "A value between $ quotes",
		detail: "$'…' and $\"…\" are read for escapes or translated. End the quotes before the value:  $'…'{value}$'…'."}
	banQuotedHeredoc = &ban{code: "F0235", summary: "A value in a here-document whose word is in quotes",
		detail: "With quotes around the word, the shell leaves the document as it is. Take the quotes away, and put a backslash before each $ and ` that is meant literally; or give the text over as  stdin = … and leave the here-document out."}
	banPattern = &ban{code: "F0237", summary: "A value in a pattern",
		detail: "As data it would match nothing but itself, and as a pattern it would be more than data. Compare with  [ \"$x\" = {value} ], or let flowrun match:  regexall(PATTERN, {expr})."}
	banDescriptor = &ban{code: "F0243", summary: "A value as the number of an open file",
		detail: "Write the number out. For a file use > or <."}
	banPlace = &ban{code: "F0244", summary: "A value in a place of the script where it cannot be made data",
		detail: "Assign it before, with  v={value}, and use \"$v\" here."}
	banEscaped = &ban{code: "F0245", summary: "A backslash before a value",
		detail: "It would take the special meaning away that the reference to the value has. Remove it, or double it where a backslash is meant."}
	banSetting = &ban{code: "F0246", summary: "A value in a variable that decides what programs run",
		detail: "What stands in this variable is run or loaded by the shell or by programs that it starts. Write it out, or choose between values that are written out:  case {value} in …."}
	banArray = &ban{code: "F0253", summary: "A value in the declaration of an array",
		detail: "bash reads the text as a list in parentheses again, and runs the commands in it. Assign it behind the declaration, to a member:  declare -a x; x[0]={value}."}
	banName = &ban{code: "F0247", summary: "A value as the name of a shell variable",
		detail: "bash runs commands that it finds in a name: a[$(COMMAND)]. Write the name out."}
	banFormat = &ban{code: "F0249", summary: "A value in the format of printf",
		detail: "printf reads % and \\ in its format. Write the format out and give the value behind it:  printf '%s\\n' {value}."}
	banEval = &ban{code: "F0238", summary: "A value in text that the shell runs later",
		detail: "eval, trap, alias and complete read their text again as a script, and a value in it as a part of that. Put the command into a function that reads a variable:  v={value}; clean() { rm -- \"$v\"; }; trap clean EXIT."}
	banSource = &ban{code: "F0239", summary: "A value where the file stands that is run",
		detail: "Which script runs is written out, so that no value decides it. Choose between files that are written out:  case {value} in …."}
	banWritten = &ban{code: "F0239", summary: "A value in a file that the script writes and runs",
		detail: "What stands in the file is run, and a value in it as a part of that. Let the file read the value from its arguments or from the environment:  sh FILE {value}, and \"$1\" in the file."}
	banFolder = &ban{code: "F0239", summary: "A value as the folder of what is run",
		detail: "The script or program is named by a path in this folder, so the value decides which one runs. Name it by a path that begins with /, or run it from a folder that is written out and give it {value} as an argument; or declare the value with an enum of folders."}
	banFar = &ban{code: "F0248", summary: "A value that goes through too many variables",
		detail: "It is handed on from variable to variable more than 50 times, and is followed no further. Use the value itself where it is needed."}
	banUnquoted = &ban{code: "F0247", summary: "A value in words of [ without quotes",
		detail: "Without quotes the shell makes words of the text, and one of them can be -v, which reads the next as a name: a[$(COMMAND)]. Put quotes around the variable:  [ \"$v\" = prod ]."}
	banTest = &ban{code: "F0241", summary: "A value in [[ ]], which sh does not have",
		detail: "Use  [ \"$x\" = {value} ], or say  shell = \"bash\"."}
)

// banCode is for text that a program runs.
func banCode(tool, how string) *ban {
	if how == "" {
		how = howEnv
	}
	return &ban{code: "F0240", summary: fmt.Sprintf("A value in text that %s runs", tool),
		detail: fmt.Sprintf("%s reads this text again as a program, and a value in it as a part of that. %s", tool, how)}
}

// banInput is for what a program reads and runs.
func banInput(tool string) *ban {
	return &ban{code: "F0242", summary: fmt.Sprintf("A value in what %s reads and runs", tool),
		detail: fmt.Sprintf("%s takes its standard input for a program here, and a value in it for a part of that. Let the text be written out, with quotes around the word of a here-document, and give the value beside it. %s", tool, howEnv)}
}

// banOption is for a word that could be an option.
func banOption(tool, how string) *ban {
	if how == "" {
		how = fmt.Sprintf("Put -- before the words that are not options:  %s … -- {value}.", tool)
	}
	return &ban{code: "F0250", summary: fmt.Sprintf("A value that %s could take for an option", tool),
		detail: fmt.Sprintf("A value that begins with - is an option here, and %s has options that run programs or write files. %s", tool, how)}
}

// banUnknown is for a word that could be an option of a program that the table does not have.
func banUnknown(tool string) *ban {
	return &ban{code: "F0250", summary: fmt.Sprintf("A value that %s could take for an option", tool),
		detail: fmt.Sprintf("A value that begins with - may be an option here, and flowrun does not know which options of %s run programs or write files. Put -- before the words that are not options:  %s … -- {value}; write text before it, such as ./{value} for a file; or write an option and its value as one word:  --name={value}.", tool, tool)}
}

// banXargs is for what xargs puts behind the words of a command.
func banXargs(tool string, why *ban) *ban {
	return &ban{code: "F0242", summary: fmt.Sprintf("A value in what xargs gives to %s", tool),
		detail: fmt.Sprintf("xargs makes words of what it reads, and one that begins with - is an option of %s, or what it runs (%s). End the words with --:  xargs %s --.", tool, why.code, tool)}
}

const howEnv = "Give the value in the environment,  env = { V = {expr} }, and read it there by the program's own means, such as \"$V\"."
