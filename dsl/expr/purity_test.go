package expr

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// pure is all that this package may import: nothing here reads a clock, rolls dice, or reaches the world.
var pure = []string{
	"crypto/md5", "crypto/sha1", "crypto/sha256", "crypto/sha512", "encoding/base64", "encoding/hex", "bytes", "errors", "fmt", "maps", "math", "math/big", "regexp", "regexp/syntax",
	"encoding/csv", "io", "net/url", "path", // of net/url, what escapes a text
	"slices", "sort", "strconv", "strings", "unicode", "unicode/utf8",
	"github.com/flowrun/flowrun/dsl/diag", "github.com/flowrun/flowrun/dsl/ir", "github.com/flowrun/flowrun/dsl/value",
	"github.com/flowrun/flowrun/dsl/libm", "github.com/flowrun/flowrun/dsl/lazyregexp", // an expression compiled on first use is the same one
	"go.yaml.in/yaml/v3", // a text becomes nodes, and nothing else
	"github.com/hashicorp/hcl/v2", "github.com/hashicorp/hcl/v2/hclsyntax", "github.com/zclconf/go-cty/cty",
	"github.com/zclconf/go-cty/cty/function/stdlib",                                                                                         // its functions read no clock: timestamp is Terraform's own
	"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text/language", "golang.org/x/text/message", "golang.org/x/text/unicode/norm", // no loader: nothing is fetched
	"github.com/expr-lang/expr/ast", "github.com/expr-lang/expr/conf", "github.com/expr-lang/expr/file", "github.com/expr-lang/expr/parser",
	// The schemas of gates. Its loader refuses every other document, and formats are not asserted: it computes and nothing else.
	"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text/language", "golang.org/x/text/message", "golang.org/x/text/unicode/norm",
}

func TestPurity(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if !contains(pure, path) {
				t.Errorf("%s imports %s", e.Name(), path)
			}
		}
	}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}
