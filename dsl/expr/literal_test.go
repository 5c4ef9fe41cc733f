package expr

import (
	"testing"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Every byte of a decoded literal knows where it stands in the file.
func TestLiteralOffsets(t *testing.T) {
	for _, src := range []string{
		`x = "plain"`, `x = ""`, `x = "a\"b\\c\nd\te"`, `x = "\u00e9\U0001F600z"`, `x = "$${a} %%{b} $ % $x"`, `x = "日本é"`,
		"x = <<EOT\na\n  b\nEOT", "x = <<-EOT\n    a\n      b\n\n    c\n    EOT", "x = <<-EOT\n\ta\n\tEOT", "x = <<EOT\n$${a} \\n %%{b}\nEOT", "x = <<EOT\nEOT", "x = <<-EOT\n  a\n  \n    b\n  EOT",
	} {
		x := attribute(t, src+"\n").(*hclsyntax.TemplateExpr)
		d := decodeLiteral(x, []byte(src+"\n"))
		want, _ := literalText(x)
		if d.text != want || d.from != nil && len(d.from) != len(want)+1 {
			t.Errorf("%q: %q with %d offsets, HCL reads %q", src, d.text, len(d.from), want)
			continue
		}
		for i := range len(want) {
			if d.at(i) < d.at(max(i-1, 0)) || d.at(i) >= len(src) {
				t.Errorf("%q: byte %d is said to stand at %d", src, i, d.at(i))
			}
			if b := src[d.at(i)]; b != want[i] && b != '\\' && b != '$' && b != '%' {
				t.Errorf("%q: byte %d (%q) is said to stand at %q", src, i, want[i], b)
			}
		}
	}
}
