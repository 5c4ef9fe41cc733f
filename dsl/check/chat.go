package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
)

// chat checks how the model of an agent of type chat is asked.
func (c *checker) chat(b *Block, env *expr.Env) {
	prices := b.Inner("prices")
	if prices != nil {
		c.expressions(prices, func(string) *expr.Env { return env })
	}
	kind := b.Text("type")
	if kind != "chat" {
		if prices != nil && contains(b.Schema.Attr("type").Words, kind) {
			c.report(diag.Diagnostic{Code: "F0120", Subject: prices.Src.Range, Context: b.Words(), Summary: fmt.Sprintf("Agent of type %s has no prices", kind),
				Detail: "It would have no effect: an agent of another type reports its cost itself. Remove it."})
		}
		return
	}
	for _, name := range []string{"provider", "model"} {
		if b.attr(name) == nil {
			c.report(diag.Diagnostic{Code: "F0119", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("Missing attribute %q in %s", name, b.Words()),
				Detail: fmt.Sprintf("An agent of type chat needs it: %s", b.Schema.Attr(name).Doc)})
		}
	}
	wrong := func(at diag.Range, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0157", Subject: at, Context: b.Words(), Summary: summary, Detail: detail})
	}
	provider := b.Text("provider")
	if a := b.attr("api"); a != nil && provider != "openai" && contains(b.Schema.Attr("provider").Words, provider) {
		wrong(a.Src.Range, fmt.Sprintf("The provider %s has no api to choose", provider), "Only openai has two APIs. Remove it.")
	}
	key, name := b.attr("key"), b.attr("key_env")
	switch {
	case name == nil:
	case key != nil:
		wrong(name.Src.Range, "The key is given twice", "Keep key or key_env.")
	case !envName().MatchString(name.Text):
		wrong(name.span(), fmt.Sprintf("%.40q is not a valid name of an environment variable", name.Text), "Write the name, such as \"OPENAI_API_KEY\", and never the key itself.")
	}
	if key != nil && key.Expr != nil && !key.Expr.Sensitive {
		c.advice("F0158", key.span(), b.Words(), "The key is not sensitive",
			"The store keeps the key with the definition of each run. Declare a variable with  sensitive = true  and write  key = var.NAME, or name an environment variable with key_env.")
	}
}
