package args

import "regexp"

// TestFormats are the forms of the results of tests.
var TestFormats = []string{"text", "json"}

// Test is what test takes.
type Test struct {
	Paths  []string
	Run    string // a regular expression over names; "" means all
	Format string // one of TestFormats

	wanted *regexp.Regexp
}

// Check refuses a format, or an expression that cannot be read.
func (t *Test) Check() (err error) {
	if err := OneOf("--format", t.Format, TestFormats...); err != nil {
		return err
	}
	if t.wanted, err = regexp.Compile(t.Run); err != nil {
		return Errorf("--run %s is no regular expression: %v", t.Run, err)
	}
	return nil
}

// Wanted reports whether a test of this name is to be run. It is asked after Check.
func (t *Test) Wanted(name string) bool { return t.wanted.MatchString(name) }
