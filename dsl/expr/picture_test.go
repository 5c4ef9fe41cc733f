package expr

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/flowrun/flowrun/dsl/diag"
)

// TestPictures shows every kind of fault as its reader sees it: the line, carets under the place, code, what is wrong
// and what to do. Regenerate with go test -run Pictures -rewrite, and read the difference like code.
func TestPictures(t *testing.T) {
	datadriven.Walk(t, "testdata/pictures", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			src := "x = " + d.Input + "\n"
			x := attribute(t, src)
			var diags diag.List
			var fine string
			switch d.Cmd {
			case "condition":
				e, ds := Condition(x, []byte(src), testEnv())
				if diags = ds; e != nil {
					fine = "reads " + refs(e.Reads) + "\n"
				}
			case "value":
				e, ds := Value(x, []byte(src), testEnv())
				if diags = ds; e != nil {
					fine = "is " + nullness(e.Type.String(), e.Type.Nullable && !e.Type.IsAny()) + ", reads " + refs(e.Reads) + "\n"
				}
			case "type":
				typ, ds := Type(x)
				if diags = ds; len(ds) == 0 {
					fine = typ.String() + "\n"
				}
			case "static":
				names, ds := StaticList(x, "agent")
				diags = ds
				for _, n := range names {
					fine += n.Name + " at " + n.Range.String() + "\n"
				}
			default:
				t.Fatalf("no command %q", d.Cmd)
			}
			return picture(src, diags) + fine
		})
	})
}

func nullness(s string, null bool) string {
	if null {
		return s + " or null"
	}
	return s
}

func refs[T interface{ String() string }](list []T) string {
	if len(list) == 0 {
		return "nothing"
	}
	parts := make([]string, len(list))
	for i, r := range list {
		parts[i] = r.String()
	}
	return strings.Join(parts, " ")
}
