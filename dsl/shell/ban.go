package shell

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// ban is why a value cannot stand in a place, and what to do. {value} stands for the value's expression, in ${ } as the
// file has it; {expr} for the expression alone.
type ban struct{ code, summary, detail string }

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
	banCommand = &ban{"F0232", "A value where the name of a command stands",
		"Which program runs is written out, so that no value decides it. Choose between programs that are written out:  case {value} in a) PROGRAM-A ;; b) PROGRAM-B ;; esac."}
	banArithmetic = &ban{"F0233", "A value in arithmetic",
		"bash runs commands that it finds in the text of a number: a[$(COMMAND)]. Let flowrun do the sum, as in ${{expr} + 1}, or compare as text:  [ {value} = 3 ]."}
	banAnsi = &ban{"F0234", "A value between $ quotes",
		"$'…' and $\"…\" are read for escapes or translated. End the quotes before the value:  $'…'{value}$'…'."}
	banQuotedHeredoc = &ban{"F0235", "A value in a here-document whose word is in quotes",
		"With quotes around the word, the shell leaves the document as it is. Take the quotes away, and put a backslash before each $ and ` that is meant literally; or give the text over as  stdin = … and leave the here-document out."}
	banPattern = &ban{"F0237", "A value in a pattern",
		"As data it would match nothing but itself, and as a pattern it would be more than data. Compare with  [ \"$x\" = {value} ], or let flowrun match:  regexall(PATTERN, {expr})."}
	banDescriptor = &ban{"F0243", "A value as the number of an open file",
		"Write the number out. For a file use > or <."}
	banPlace = &ban{"F0244", "A value in a place of the script where it cannot be made data",
		"Assign it before, with  v={value}, and use \"$v\" here."}
	banEscaped = &ban{"F0245", "A backslash before a value",
		"It would take the special meaning away that the reference to the value has. Remove it, or double it where a backslash is meant."}
	banSetting = &ban{"F0246", "A value in a variable that decides what programs run",
		"What stands in this variable is run or loaded by the shell or by programs that it starts. Write it out, or choose between values that are written out:  case {value} in …."}
	banArray = &ban{"F0253", "A value in the declaration of an array",
		"bash reads the text as a list in parentheses again, and runs the commands in it. Assign it behind the declaration, to a member:  declare -a x; x[0]={value}."}
	banName = &ban{"F0247", "A value as the name of a shell variable",
		"bash runs commands that it finds in a name: a[$(COMMAND)]. Write the name out."}
	banFormat = &ban{"F0249", "A value in the format of printf",
		"printf reads % and \\ in its format. Write the format out and give the value behind it:  printf '%s\\n' {value}."}
	banEval = &ban{"F0238", "A value in text that the shell runs later",
		"eval, trap, alias and complete read their text again as a script, and a value in it as a part of that. Put the command into a function that reads a variable:  v={value}; clean() { rm -- \"$v\"; }; trap clean EXIT."}
	banSource = &ban{"F0239", "A value where the file stands that is run",
		"Which script runs is written out, so that no value decides it. Choose between files that are written out:  case {value} in …."}
	banTest = &ban{"F0241", "A value in [[ ]], which sh does not have",
		"Use  [ \"$x\" = {value} ], or say  shell = \"bash\"."}
)

// banCode is for text that a program runs.
func banCode(tool, how string) *ban {
	if how == "" {
		how = howEnv
	}
	return &ban{"F0240", fmt.Sprintf("A value in text that %s runs", tool),
		fmt.Sprintf("%s reads this text again as a program, and a value in it as a part of that. %s", tool, how)}
}

// banInput is for what a program reads and runs.
func banInput(tool string) *ban {
	return &ban{"F0242", fmt.Sprintf("A value in what %s reads and runs", tool),
		fmt.Sprintf("%s takes its standard input for a program here, and a value in it for a part of that. Let the text be written out, with quotes around the word of a here-document, and give the value beside it. %s", tool, howEnv)}
}

// banOption is for a word that could be an option.
func banOption(tool, how string) *ban {
	if how == "" {
		how = fmt.Sprintf("Put -- before the words that are no options:  %s … -- {value}.", tool)
	}
	return &ban{"F0250", fmt.Sprintf("A value that %s could take for an option", tool),
		fmt.Sprintf("A value that begins with - is an option here, and %s has options that run programs. %s", tool, how)}
}

const howEnv = "Give the value in the environment,  env = { V = {expr} }, and read it there by the program's own means, such as \"$V\"."
