package args

import "strings"

// Validate is what validate takes.
type Validate struct {
	Paths   []string // "" means the current folder
	Formats []string // each FORMAT or FORMAT=PATH
	// FailLevel is the lowest severity that makes the exit code 1: error | warning.
	FailLevel string
	// Advice says when advice is shown: always | never | auto, which is: not in the forms for CI systems.
	Advice string
}

// ShowsAdvice reports whether a report in a format has the advice.
func (v *Validate) ShowsAdvice(format string) bool {
	if v.Advice != "auto" {
		return v.Advice == "always"
	}
	return format != "github" && format != "sarif" && format != "junit"
}

// Form is one place that a report goes to. Path "" is the screen: standard error for text, standard output for others.
type Form struct{ Format, Path string }

// Forms reads the formats. Where none is for the screen, usual is; there can be one of these alone, and one for each
// file.
func (v *Validate) Forms(usual string, known []string) ([]Form, error) {
	var out []Form
	screen, taken := false, map[string]bool{}
	for _, f := range v.Formats {
		format, path, file := strings.Cut(f, "=")
		if err := OneOf("--format", format, known...); err != nil {
			return nil, err
		}
		switch {
		case file && path == "":
			return nil, &Error{"--format " + f + " does not name a file", "Write --format " + format + "=PATH, or --format " + format + " for the screen."}
		case !file && screen:
			return nil, &Error{"two formats are for the screen", "Send one of them to a file: --format " + format + "=PATH."}
		case file && taken[path]:
			return nil, Errorf("two formats are for the file %s", path)
		}
		screen, taken[path] = screen || !file, true
		out = append(out, Form{format, path})
	}
	if !screen {
		out = append(out, Form{Format: usual})
	}
	return out, nil
}

// Check refuses a level, and a word about advice, that there is not.
func (v *Validate) Check() error {
	if err := OneOf("--advice", v.Advice, "auto", "always", "never"); err != nil {
		return err
	}
	return OneOf("--fail-level", v.FailLevel, "error", "warning")
}
