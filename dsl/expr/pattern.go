package expr

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/flowrun/flowrun/dsl/value"
)

// compilePattern compiles a regular expression (RE2) within the bounds.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > MaxPatternBytes {
		return nil, fmt.Errorf("the pattern has %d bytes; the limit is %d", len(pattern), MaxPatternBytes)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q does not compile: %w", shorten(pattern), err)
	}
	if n := patternSize(pattern); n > MaxPatternInstr {
		return nil, fmt.Errorf("the pattern %q compiles to %d instructions; the limit is %d", shorten(pattern), n, MaxPatternInstr)
	}
	return re, nil
}

func patternSize(pattern string) int {
	p, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := syntax.Compile(p.Simplify())
	if err != nil {
		return 0
	}
	return len(prog.Inst)
}

// pattern compiles a pattern and counts what matching it against text costs at worst: instructions times bytes, of which
// about a hundred take as long as a step.
func (r *run) pattern(pattern, text string) (*regexp.Regexp, error) {
	re, err := compilePattern(pattern)
	if err != nil {
		return nil, err
	}
	return re, r.matching(patternSize(pattern), text)
}

func (r *run) matching(size int, text string) error { return r.work(50 + size*(len(text)+1)/100) }

// groups is what regex gives for a match: its text, the list of its groups, or the object of its named groups.
func groups(re *regexp.Regexp, s string, m []int) value.Value {
	group := func(i int) value.Value {
		if m[2*i] < 0 {
			return nil
		}
		return s[m[2*i]:m[2*i+1]]
	}
	if re.NumSubexp() == 0 {
		return group(0)
	}
	named, list := map[string]any{}, []any{}
	for i, name := range re.SubexpNames()[1:] {
		if name != "" {
			named[name] = group(i + 1)
		}
		list = append(list, group(i+1))
	}
	if len(named) > 0 {
		return named
	}
	return list
}
