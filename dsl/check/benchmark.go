package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// figureName matches the name of a figure or of a baseline.
var figureName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,99}$`)

// benchmark checks the names and the bound of a benchmark.
func (c *checker) benchmark(b *Block) {
	for _, name := range []string{"metric", "baseline"} {
		if a := b.attr(name); a != nil && !figureName().MatchString(a.Text) {
			c.report(diag.Diagnostic{Code: "F0156", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("%q is not a valid name of a metric", a.Text),
				Detail: "A name begins with a letter, and has at most 100 letters, digits, dots, dashes and underscores."})
		}
	}
	if a := b.attr("max_regression"); a != nil {
		if _, ok := Percent(a.Text); !ok {
			c.report(diag.Diagnostic{Code: "F0156", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("max_regression is %q", a.Text),
				Detail: "It is a percentage from 0 to 1000:  max_regression = \"10%\"."})
		}
	}
}

// Percent reads a text such as "10%" as a fraction. It reports false for other texts, and for more than 1000%.
func Percent(text string) (float64, bool) {
	number, ok := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(n >= 0 && n <= 1000) {
		return 0, false
	}
	return n / 100, true
}
