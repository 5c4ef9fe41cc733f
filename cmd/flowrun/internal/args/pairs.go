package args

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// MaxFile bounds what @file and standard input may hold as a value, in bytes.
const MaxFile = 1 << 20

// MaxVarFile bounds a file of variables, in bytes.
const MaxVarFile = 16 << 20

// World is how values are read from elsewhere.
type World struct {
	Stdin io.Reader
	// ReadFile reads at most so many bytes of a file, which may be a pipe or a device without end.
	ReadFile func(name string, most int64) ([]byte, error)
}

// Pair is one name=value, with what @file and - stand for already read.
type Pair struct {
	Name, Text string
	From       string // the flag, and " @FILE" where the value was read from a file
}

// IsText refuses what is not UTF-8: a journal could not give it back as it was.
func IsText(what, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return Errorf("%s is not UTF-8 text", what)
}

// Pairs reads the values of a flag. A text "@name" is the content of a file, "-" that of standard input (for one pair at
// most), "@@x" the text "@x". A name that stands twice is an error.
func Pairs(flag string, given []string, w World) ([]Pair, error) {
	var out []Pair
	seen, stdin := map[string]bool{}, false
	for _, g := range given {
		name, text, ok := strings.Cut(g, "=")
		if !ok || name == "" {
			return nil, &Error{fmt.Sprintf("%s %q is not of the form name=value", flag, g), "Write " + flag + " name=value."}
		}
		if seen[name] {
			return nil, Errorf("%s gives %q twice", flag, name)
		}
		seen[name] = true
		from := flag
		switch {
		case text == "-":
			if stdin {
				return nil, Errorf("%s reads standard input twice", flag)
			}
			stdin = true
			b, err := io.ReadAll(io.LimitReader(w.Stdin, MaxFile+1))
			if err != nil {
				return nil, fmt.Errorf("reading standard input for %s %s: %w", flag, name, err)
			}
			text = string(b)
		case strings.HasPrefix(text, "@@"):
			text = text[1:]
		case text == "@":
			return nil, &Error{fmt.Sprintf("%s %s: no file is named behind the @", flag, name),
				"Write " + flag + " " + name + "=@FILE, or @@ for the character itself."}
		case strings.HasPrefix(text, "@"):
			b, err := w.ReadFile(text[1:], MaxFile+1)
			if err != nil {
				return nil, Errorf("%s %s: %v", flag, name, err)
			}
			from, text = flag+" "+text, string(b)
		}
		if len(text) > MaxFile {
			return nil, Errorf("%s %s is larger than %d bytes", flag, name, MaxFile)
		}
		if err := IsText(flag+" "+name, text); err != nil {
			return nil, err
		}
		out = append(out, Pair{name, text, from})
	}
	return out, nil
}
