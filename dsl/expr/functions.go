package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/value"
)

// function is one entry of the table that both languages call. Functions are pure: they read their arguments and the
// bounds of the evaluation, nothing else. The table is part of the behaviour number: a function's meaning never changes
// under a stored run.
type function struct {
	name string
	// sig are the parameters, blank separated, each a kind of kinds.go; "?" behind one makes it and the rest optional, "..."
	// behind the last repeats it any number of times, also none.
	sig  string
	call func(r *run, a []value.Value) (value.Value, error)
	// result gives the type of the result, from the types of the arguments. nil means any.
	result func(a []value.Type) value.Type

	params   []kind
	required int
	variadic bool
}

// functions is the table, by every name that a function is called by.
var functions = map[string]*function{}

// functionNames are the names in order, without internal ones.
var functionNames []string

func init() {
	for _, group := range [][]function{numberFunctions, stringFunctions, listFunctions, mapFunctions, convertFunctions, productFunctions, yamlFunctions, timeFunctions, voteFunctions} {
		for i := range group {
			define(&group[i])
		}
	}
	for alias, name := range exprNames { // any order: it fills a table
		if functions[alias] != nil || functions[name] == nil {
			panic("expr: the alias " + alias + " is unused or hides a name")
		}
		functions[alias] = functions[name]
	}
	for name := range functions { // any order: they are sorted next
		if name[0] != 0 {
			functionNames = append(functionNames, name)
		}
	}
	functionNames = append(functionNames, "try", "can", "file")
	slices.Sort(functionNames)
}

// exprNames are the names that expr-lang gives to functions of the table.
var exprNames = map[string]string{
	"len": "length", "trimPrefix": "trimprefix", "trimSuffix": "trimsuffix", "hasPrefix": "startswith", "hasSuffix": "endswith",
	"toJSON": "jsonencode", "fromJSON": "jsondecode", "toBase64": "base64encode", "fromBase64": "base64decode", "uniq": "distinct",
	"string": "tostring", "float": "tonumber",
}

func define(f *function) {
	for _, p := range strings.Fields(f.sig) {
		if rest, ok := strings.CutSuffix(p, "..."); ok {
			p, f.variadic = rest, true
		} else if rest, ok := strings.CutSuffix(p, "?"); ok {
			p = rest
		} else {
			f.required++
		}
		f.params = append(f.params, kind(p))
	}
	if functions[f.name] != nil {
		panic("expr: two functions named " + f.name)
	}
	functions[f.name] = f
}

// param returns what argument i must be.
func (f *function) param(i int) kind {
	if i < len(f.params) {
		return f.params[i]
	}
	return f.params[len(f.params)-1]
}

// refused are functions that a user may expect, with the reason why they do not exist.
var refused = map[string]string{
	"now":           "The time is a name without parentheses: now. It is the time of the event that is being handled, so a resumed run reads the same time.",
	"timestamp":     "The time is a name without parentheses: now. It is the time of the event that is being handled, so a resumed run reads the same time.",
	"plantimestamp": "The time is a name without parentheses: now. It is the time of the event that is being handled, so a resumed run reads the same time.",
	"uuid":          "A resumed run must get the same result. For a unique name, use run.id.",
	"bcrypt":        "A resumed run must get the same result, but this function uses a random salt.",
	"env":           "Expressions cannot read the environment. Declare a variable, and give it with --var or FLOWRUN_VAR_name.",
	"log":           "Its last digits differ between processors, but a run that is resumed on another machine must get the same result.",
	"templatefile":  "Expressions cannot read templates from files. Write the template as a heredoc.",
	"duration":      "Durations are strings such as \"90s\" in the attributes that take them; step.x.duration is a number of seconds.",
	"date":          "Times are strings in RFC 3339, which compare in order of time.",
	"timezone":      "Times are strings in RFC 3339, which compare in order of time.",
	"success":       "A node runs after the success of what it needs, unless it says otherwise. How a node ended is step.NAME.status == 'succeeded'.",
	"failure":       "Write step.NAME.status == 'failed'. A step that reads the status waits until NAME has finished, however it ended.",
	"always":        "Write  trigger_rule = \"all_done\"  in place of the condition. A step that reads step.NAME.status also waits until NAME has finished, however it ended.",
	"getenv":        "An expression reads no environment. Declare a variable, and give it with --var or FLOWRUN_VAR_name; a script reads $NAME itself.",
	"hashFiles":     "An expression reads one file of the program by its name: sha256(file(\"go.sum\")).",
	"filesha256":    "An expression reads one file of the program by its name: sha256(file(\"go.sum\")).",
	"fileexists":    "An expression reads one file of the program by its name, and it must exist: file(\"NAME\"). A script asks with  test -e.",
	"nonsensitive":  "A sensitive value stays sensitive in all that is computed from it.",
	"sensitive":     "A variable or an input is sensitive with the line  sensitive = true.",
	"is_null":       "Compare with null:  x == null.",
	"isNull":        "Compare with null:  x == null.",
	"isset":         "Compare with null:  x != null.",
	"cancelled":     "Write step.NAME.status == 'cancelled'.",
	"get":           "A missing member is null: write x.name or x[key].",
	"toPairs":       "Write keys(x) or values(x), which are in order of the keys.",
	"fromPairs":     "Write zipmap(keys, values).",
	"type":          "flowrun knows the type of each name before the run. Compare with null to test for a missing value.",
	"splitAfter":    "Write split(separator, text).",
	"bitand":        "flowrun has no bitwise functions.", "bitor": "flowrun has no bitwise functions.", "bitxor": "flowrun has no bitwise functions.", "bitnand": "flowrun has no bitwise functions.",
	"bitnot": "flowrun has no bitwise functions.", "bitshl": "flowrun has no bitwise functions.", "bitshr": "flowrun has no bitwise functions.", "bitushr": "flowrun has no bitwise functions.",
}

// makeCall finds the function and checks the number of arguments.
func makeCall(fs *findings, name string, at, nameAt span, args []node, spread bool, code string) node {
	if name == "try" || name == "can" {
		if len(args) == 0 || name == "can" && len(args) > 1 || spread {
			fs.add(at, codeArgCount, name+" needs "+map[string]string{"try": "one or more expressions", "can": "one expression"}[name], "try returns the first argument with a value; can reports whether there is one.")
			return &lit{at, nil}
		}
		return &attempt{at, name == "can", args}
	}
	if name == "file" {
		return makeFile(fs, at, args)
	}
	f := functions[name]
	if f == nil {
		if why, ok := refused[name]; ok {
			fs.add(nameAt, codeRefusedFunc, fmt.Sprintf("Unknown function %q", name), why)
			return &lit{at, nil}
		}
		detail := "flowrun has most pure functions of Terraform and expr-lang; flowrun schema lists them."
		if len(fs.list) >= MaxSuggestions { // of one expression
		} else if near := diag.Nearest(name, functionNames); near != "" {
			detail = fmt.Sprintf("Did you mean %q?", near)
		} else if lower := strings.ToLower(name); functions[lower] != nil {
			detail = fmt.Sprintf("Did you mean %q?", lower)
		}
		fs.add(nameAt, code, fmt.Sprintf("Unknown function %q", name), detail)
		return &lit{at, nil}
	}
	most := len(f.params)
	if (len(args) < f.required && !spread) || (len(args) > most && !f.variadic) {
		fs.add(at, codeArgCount, fmt.Sprintf("%s takes %s, not %d", name, f.takes(), len(args)), fmt.Sprintf("It is %s(%s).", name, f.shown()))
		return &lit{at, nil}
	}
	return &call{at, f, args, spread}
}

// shown lists what the arguments must be.
func (f *function) shown() string {
	parts := make([]string, len(f.params))
	for i, p := range f.params {
		parts[i] = kindNames[p]
		if i >= f.required {
			parts[i] += " that can be left out"
		}
	}
	if f.variadic {
		parts[len(parts)-1] = "more of the same"
	}
	return strings.Join(parts, ", ")
}

func (f *function) takes() string {
	n := fmt.Sprint(f.required)
	switch {
	case f.variadic:
		n = "at least " + n
	case len(f.params) > f.required:
		n = fmt.Sprintf("%d to %d", f.required, len(f.params))
	}
	if n == "1" {
		return "1 argument"
	}
	return n + " arguments"
}

// constant makes a result type that does not depend on the arguments.
func constant(t value.Type) func([]value.Type) value.Type {
	return func([]value.Type) value.Type { return t }
}

// same gives the type of argument i.
func same(i int) func([]value.Type) value.Type {
	return func(a []value.Type) value.Type {
		if i < len(a) {
			return a[i]
		}
		return value.AnyType
	}
}

// listLike gives a list of what argument i has as members.
func listLike(i int) func([]value.Type) value.Type {
	return func(a []value.Type) value.Type {
		if i < len(a) {
			return value.List(elemType(a[i]))
		}
		return value.AnyType
	}
}
