package dsl

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

var doubleBrace = lazyregexp.New(`^\$\{\{\s*([A-Za-z_][A-Za-z0-9_.-]*)`)

// otherNames says of ${{ … }} what stands for the name in it.
func otherNames(f *syntax.File, list diag.List) {
	for i, d := range list {
		m := doubleBrace().FindSubmatch(f.Src[min(d.Subject.Start.Byte, len(f.Src)):])
		if m == nil {
			continue
		}
		path := strings.Split(string(m[1]), ".")
		if other := schema.OtherName(path); other != "" {
			list[i].Detail = other + " A value in a text has one brace: ${…}; a condition reads names without any."
			if path[0] == "matrix" { // the one name whose text and condition differ by more than the braces
				list[i].Detail = "A matrix is  for_each = [ … ]  on the step; a text reads its member as  ${each.value}, a condition as  each.value."
			}
		}
	}
}
