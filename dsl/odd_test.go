package dsl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A value of another kind than an attribute takes is a diagnostic, never a panic: each attribute of
// each kind of block gets each of these.
func TestOddValues(t *testing.T) {
	files, err := filepath.Glob("../testdata/constructs/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	odd := []string{`["x"]`, `[null]`, `[[1]]`, `[]`, `null`, `true`, `"25%"`, `1.5`, `{ a = null }`}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, diags := hclsyntax.ParseConfig(text, file, hcl.InitialPos)
		if diags.HasErrors() {
			continue
		}
		var walk func(b *hclsyntax.Body, in string)
		walk = func(b *hclsyntax.Body, in string) {
			for _, a := range b.Attributes {
				if tried[in+a.Name] {
					continue
				}
				tried[in+a.Name] = true
				r := a.Expr.Range()
				for _, v := range odd {
					changed := string(text[:r.Start.Byte]) + v + string(text[r.End.Byte:])
					func() {
						defer func() {
							if p := recover(); p != nil {
								t.Errorf("%s:%d: %s = %s: %v", file, r.Start.Line, a.Name, v, fmt.Sprint(p))
							}
						}()
						dsl.Load(fstest.MapFS{"flow.hcl": {Data: []byte(changed)}}, "flow.hcl", dsl.Options{})
					}()
				}
			}
			for _, inner := range b.Blocks {
				walk(inner.Body, inner.Type+".")
			}
		}
		walk(f.Body.(*hclsyntax.Body), "")
	}
}
