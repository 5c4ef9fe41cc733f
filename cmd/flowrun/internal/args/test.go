package args

import "regexp"

// TestFormats are the forms of the results of tests.
var TestFormats = []string{"text", "json", "junit", "github"}

// Test is what test takes.
type Test struct {
	Paths    []string
	Run      string   // a regular expression over names; "" means all
	Formats  []string // each FORMAT or FORMAT=PATH
	Coverage bool     // the text says what no test reached
	Watch    bool     // the tests run again when a file changes

	wanted *regexp.Regexp
}

// Check refuses an expression that cannot be read.
func (t *Test) Check() (err error) {
	if t.wanted, err = regexp.Compile(t.Run); err != nil {
		return Errorf("--run %s is not a regular expression: %v", t.Run, err)
	}
	return nil
}

// Forms reads the formats as those of Validate.
func (t *Test) Forms(usual string) ([]Form, error) {
	return (&Validate{Formats: t.Formats}).Forms(usual, TestFormats)
}

// Wanted reports whether a test of this name is to be run. It is asked after Check.
func (t *Test) Wanted(name string) bool { return t.wanted.MatchString(name) }
