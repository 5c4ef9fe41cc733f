package protocol

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/value"
)

var outputName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// OutputFile reads what a program wrote to the file $FLOWRUN_OUTPUT. A line is
//
//	NAME=VALUE          a text
//	NAME<<END           a text of several lines, up to a line that is END
//	{"name": value, …}  an object, whose members are added
//
// or empty. A name that comes again is set again. A file of nothing gives nil.
func OutputFile(text string) (map[string]any, error) {
	var out map[string]any
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	set := func(name string, v value.Value) {
		if out == nil {
			out = map[string]any{}
		}
		out[name] = v
	}
	for i := 0; i < len(lines); i++ {
		line, number := strings.TrimSuffix(lines[i], "\r"), i+1
		switch name, rest, many := cutOutput(line); {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(strings.TrimSpace(line), "{"):
			v, err := value.Decode([]byte(line))
			if err != nil {
				return nil, fmt.Errorf("line %d of $FLOWRUN_OUTPUT is not a JSON object: %w", number, err)
			}
			for name, v := range v.(map[string]any) { // any order: each for itself
				set(name, v)
			}
		case !outputName().MatchString(name):
			return nil, fmt.Errorf("line %d of $FLOWRUN_OUTPUT is neither NAME=VALUE nor NAME<<END nor a JSON object: %.60q", number, line)
		case many:
			end := i + 1
			for end < len(lines) && strings.TrimSuffix(lines[end], "\r") != rest {
				end++
			}
			if end == len(lines) || rest == "" {
				return nil, fmt.Errorf("line %d of $FLOWRUN_OUTPUT begins a text of several lines, and no line is %.60q to end it", number, rest)
			}
			set(name, strings.Join(lines[i+1:end], "\n"))
			i = end
		default:
			set(name, rest)
		}
	}
	return out, nil
}

// cutOutput cuts a line at the first = or <<, whichever comes first.
func cutOutput(line string) (name, rest string, many bool) {
	one, more := strings.Index(line, "="), strings.Index(line, "<<")
	switch {
	case more >= 0 && (one < 0 || more < one):
		return line[:more], line[more+2:], true
	case one >= 0:
		return line[:one], line[one+1:], false
	}
	return "", "", false
}
