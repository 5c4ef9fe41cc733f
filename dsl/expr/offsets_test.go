package expr

import (
	"testing"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Each byte of a literal part knows where it stands in the file, whatever escapes and stripped indents lie before it.
func TestOffsets(t *testing.T) {
	for name, src := range map[string]string{
		"quoted":   `"a\tb \"c\" $${d} ${x} é\u00e9 Z"`,
		"heredoc":  "<<EOT\n  a \"b\" $${d} ${x}\n  e Z\nEOT\n",
		"stripped": "<<-EOT\n    a ${x}\n\n      e Z\n    EOT\n",
		"trimmed":  `"a  ${~ x ~}  e Z"`,
	} {
		x := attribute(t, "x = "+src+"\n").(*hclsyntax.TemplateExpr)
		all := []byte("x = " + src + "\n")
		for _, p := range x.Parts {
			l, ok := p.(*hclsyntax.LiteralValueExpr)
			if !ok {
				continue
			}
			text := l.Val.AsString()
			from := Offsets(text, l.Range(), all, src[0] == 34)
			if len(from) != len(text)+1 {
				t.Errorf("%s: %d offsets for %d bytes", name, len(from), len(text))
				continue
			}
			for i, c := range []byte(text) {
				at := all[from[i]]
				if c < 0x80 && c > ' ' && c != at && at != '\\' {
					t.Errorf("%s: byte %d, %q, is said to be at %q", name, i, c, at)
				}
			}
		}
	}
}
