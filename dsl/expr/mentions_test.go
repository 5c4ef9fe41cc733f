package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// What is read is marked with the name in brackets; what only has the name of a root stays.
func TestMentions(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`product.output`, `<product>.output`},
		{`{ product = review.output.product, (product) = 1 }`, `{ product = <review>.output.product, (<product>) = 1 }`},
		{`[for product in product.output : product.name if review != null]`, `[for product in <product>.output : product.name if <review> != null]`},
		{`"a ${product.output} ${upper(review)} product"`, `"a ${<product>.output} ${upper(<review>)} product"`},
		{`step.product.output[product.output]`, `step.product.output[<product>.output]`},
		{`product[0].review`, `<product>[0].review`},
		{"<<E\nproduct ${product.output}\nE\n", "<<E\nproduct ${<product>.output}\nE\n"},
	} {
		if got := marked(t, c.text, false); got != c.want {
			t.Errorf("%s: got %s", c.text, got)
		}
	}
	for _, c := range []struct{ text, want string }{
		{`"review.output.verdict == 'review'"`, `"<review>.output.verdict == 'review'"`},
		{`"a.review + review?.output + step.product.output"`, `"a.review + <review>?.output + step.product.output"`},
		{`"{review: product}.review == {'a': review}['a']"`, `"{review: <product>}.review == {'a': <review>}['a']"`},
		{`"x ? review : product"`, `"x ? <review> : <product>"`},
		{`"let review = product.output; review > 1"`, `"let review = <product>.output; review > 1"`},
		{`"product([1]) == /* review */ review"`, `"product([1]) == /* review */ <review>"`},
		{`"\u0061\tproduct == \"review\""`, `"\u0061\t<product> == \"review\""`},
		{"<<-E\n    review.output\n    && product.x\n    E\n", "<<-E\n    <review>.output\n    && <product>.x\n    E\n"},
	} {
		if got := marked(t, c.text, true); got != c.want {
			t.Errorf("%s: got %s", c.text, got)
		}
	}
}

func marked(t *testing.T, text string, condition bool) string {
	t.Helper()
	src := []byte("v = " + text + "\n")
	f, diags := hclsyntax.ParseConfig(src, "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var out strings.Builder
	at := 0
	for _, m := range Mentions(f.Body.(*hclsyntax.Body).Attributes["v"].Expr, src, condition, []string{"product", "review"}) {
		fmt.Fprintf(&out, "%s<%s>", src[at:m.Start], m.Root)
		at = m.End
	}
	out.Write(src[at:])
	return strings.TrimSuffix(strings.TrimPrefix(out.String(), "v = "), "\n")
}
