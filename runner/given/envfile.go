package given

import (
	"fmt"
	"strings"
)

// parseEnvFile reads a file of an environment: NAME=VALUE lines, as other tools know them.
//
//	# a comment
//	export NAME=value      # with or without export; a comment begins behind a space
//	NAME='as it is'        # over several lines, too
//	NAME="\n \t \" \\ \$"  # these escapes and no others; over several lines, too
//
// Nothing is interpolated: $ stands for itself. Of a name that stands twice the last counts. Errors name a line, and do
// not quote it.
func parseEnvFile(text string) (map[string]string, error) {
	out := map[string]string{}
	for line := 1; text != ""; {
		name, rest, err := takeName(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		value, left := "", rest
		if name != "" {
			if value, left, err = takeValue(rest); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
			out[name] = value
		}
		line += strings.Count(text[:len(text)-len(left)], "\n")
		text = left
	}
	return out, nil
}

// takeName takes a name and its "=", or a line that holds nothing; then name is empty.
func takeName(text string) (name, rest string, err error) {
	line, after, _ := strings.Cut(text, "\n")
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", after, nil
	}
	name, _, ok := strings.Cut(line, "=")
	name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "export "))
	if !ok || name == "" || strings.ContainsAny(name, " \t\"'") {
		return "", "", fmt.Errorf("it is not of the form NAME=VALUE")
	}
	_, rest, _ = strings.Cut(text, "=")
	return name, rest, nil
}

// takeValue takes a value and the rest of its line.
func takeValue(text string) (value, rest string, err error) {
	text = strings.TrimLeft(text, " \t")
	if text == "" || text[0] != '"' && text[0] != '\'' {
		line, rest, _ := strings.Cut(text, "\n")
		if i := strings.Index(line, " #"); i >= 0 {
			line = line[:i]
		}
		return strings.TrimSpace(line), rest, nil
	}
	value, rest, ok := takeQuoted(text[1:], text[0])
	if !ok {
		return "", "", fmt.Errorf("a quote is not closed")
	}
	line, rest, _ := strings.Cut(rest, "\n")
	if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
		return "", "", fmt.Errorf("there is text after the closing quote")
	}
	return value, rest, nil
}

// takeQuoted takes text up to a closing quote.
func takeQuoted(text string, quote byte) (value, rest string, ok bool) {
	escapes := map[byte]byte{'n': '\n', 't': '\t', '"': '"', '\\': '\\', '$': '$'}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return b.String(), text[i+1:], true
		case c == '\\' && quote == '"' && i+1 < len(text) && escapes[text[i+1]] != 0:
			i++
			b.WriteByte(escapes[text[i]])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
