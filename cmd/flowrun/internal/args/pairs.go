package args

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxFile bounds what @file and standard input may hold as a value, in bytes.
const MaxFile = 1 << 20

// World is how values are read from elsewhere. One serves all flags of a command line: standard input can be read once.
type World struct {
	Stdin io.Reader
	// ReadFile reads at most so many bytes of a file, which may be a pipe or a device without end.
	ReadFile func(name string, most int64) ([]byte, error)
	// Plain names the variable of the environment that says that this is CI, "" elsewhere. In CI every text is taken as it is: one
	// that somebody else has chosen, such as the title of a ticket, must not read a file. Note is told of a text that would have
	// been read.
	Plain string
	Note  func(text string)

	stdin bool // has been read
}

// Pair is one name=value, with what @file and - stand for already read.
type Pair struct {
	Name, Text string
	From       string // the flag, and " @FILE" where the value was read from a file
}

// ReadsInput reports whether one of the values comes from standard input, which can be read once.
func (g *Given) ReadsInput() bool {
	stdin := func(p string) bool {
		_, text, _ := strings.Cut(p, "=")
		return text == "-"
	}
	for _, p := range []Pairs{g.Inputs, g.Vars} {
		if slices.ContainsFunc(slices.Concat(p.Values, p.From), stdin) {
			return true
		}
	}
	return slices.Contains(g.VarFiles, "-") || slices.Contains(g.EnvFiles, "-")
}

// IsText refuses what is not UTF-8: a journal could not give it back as it was.
func IsText(what, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return Errorf("%s is not UTF-8 text", what)
}

// Pairs are the flags that give values of one kind, each name=value.
type Pairs struct {
	Values []string // --input: "@name" is the content of a file, "-" that of standard input, "@@x" the text "@x"; not with World.Plain
	Raw    []string // --input-raw: the text as it is
	From   []string // --input-from: the name of a file, or "-"
}

// pairs reads the values of one kind.
type pairs struct {
	*World
	flag string // the flag of Values
	seen map[string]bool
	out  []Pair
}

// Read reads them all. Flag is that of Values. Standard input can be read once, and a name that stands twice is an error.
func (p *Pairs) Read(flag string, w *World) ([]Pair, error) {
	r := &pairs{World: w, flag: flag, seen: map[string]bool{}}
	for _, part := range []struct {
		flag  string
		given []string
		read  func(flag, name, text string) (value, from string, err error)
	}{
		{flag, p.Values, r.value},
		{flag + "-raw", p.Raw, func(_, _, text string) (string, string, error) { return text, flag, nil }},
		{flag + "-from", p.From, r.file},
	} {
		for i, g := range part.given {
			which := ""
			if len(part.given) > 1 {
				which = fmt.Sprintf(" number %d", i+1)
			}
			if err := r.add(part.flag, which, g, part.read); err != nil {
				return nil, err
			}
		}
	}
	return r.out, nil
}

// add reads one pair. which tells it from others of its flag.
func (r *pairs) add(flag, which, given string, read func(flag, name, text string) (string, string, error)) error {
	name, text, ok := strings.Cut(given, "=")
	if !ok || name == "" { // it may be a secret whose name was forgotten
		return &Error{fmt.Sprintf("%s%s is not of the form name=value", flag, which), "Write " + flag + " name=value."}
	}
	if r.seen[name] {
		return Errorf("%s gives %q twice", r.flag, name)
	}
	r.seen[name] = true
	text, from, err := read(flag, name, text)
	if err != nil {
		return err
	}
	if len(text) > MaxFile {
		return Errorf("%s %s is larger than %d bytes", flag, name, MaxFile)
	}
	if err := IsText(flag+" "+name, text); err != nil {
		return err
	}
	r.out = append(r.out, Pair{name, text, from})
	return nil
}

// value reads what @ and - stand for.
func (r *pairs) value(flag, name, text string) (string, string, error) {
	reads := text == "-" || strings.HasPrefix(text, "@")
	switch {
	case r.Plain != "":
		if reads && r.Note != nil {
			r.Note(fmt.Sprintf("%s %s is taken as it is, because %s is set: the text is %s. To read a file: %s-from %s=FILE. Without this note: %s-raw.",
				flag, name, r.Plain, map[bool]string{true: "-", false: "@ and what follows"}[text == "-"], flag, name, flag))
		}
		return text, flag, nil
	case strings.HasPrefix(text, "@@"):
		return text[1:], flag, nil
	case text == "@":
		return "", "", &Error{fmt.Sprintf("%s %s: the name of a file is missing behind the @", flag, name),
			"Write " + flag + " " + name + "=@FILE, or @@ for the character itself."}
	case reads:
		return r.file(flag, name, strings.TrimPrefix(text, "@"))
	}
	return text, flag, nil
}

// file reads a file, or standard input.
func (r *pairs) file(flag, name, path string) (string, string, error) {
	if path == "-" {
		if r.stdin {
			return "", "", Errorf("%s reads standard input twice", flag)
		}
		r.stdin = true
		b, err := io.ReadAll(io.LimitReader(r.Stdin, MaxFile+1))
		if err != nil {
			return "", "", fmt.Errorf("reading standard input for %s %s: %w", flag, name, err)
		}
		return string(b), r.flag, nil
	}
	if path == "" {
		return "", "", &Error{fmt.Sprintf("%s %s: the name of a file is missing", flag, name), "Write " + flag + " " + name + "=FILE, or - for standard input."}
	}
	b, err := r.ReadFile(path, MaxFile+1)
	if err != nil && flag == r.flag { // the text may be a secret that begins with @
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return "", "", &Error{fmt.Sprintf("%s %s: reading the file behind the @: %v", flag, name, err), "For the text as it is: " + flag + "-raw."}
	}
	if err != nil {
		return "", "", Errorf("%s %s: %v", flag, name, err)
	}
	return string(b), r.flag + " @" + path, nil
}
