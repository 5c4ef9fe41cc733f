package check

import (
	"fmt"
	"net/url"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/value"
)

var methodName = lazyregexp.New(`^[A-Za-z]{1,20}$`)

// userinfo is the beginning of a URL with a user name in it, or with a password.
var userinfo = lazyregexp.New(`^[^/?#]*://[^/?#]*@`)

// written is a text as far as it can be known, with a U+FFFD for each part of a template that is computed.
func (a *Attr) written() (text string) {
	if a.known != nil {
		text, _ = a.known.Const.(string)
		return text
	}
	t, ok := a.Src.Expr().(*hclsyntax.TemplateExpr)
	if !ok {
		return ""
	}
	for _, p := range t.Parts {
		if l, ok := p.(*hclsyntax.LiteralValueExpr); ok && l.Val.Type() == cty.String && !l.Val.IsNull() {
			text += l.Val.AsString()
		} else {
			text += "\uFFFD"
		}
	}
	return text
}

// request checks what is known from the file of a request, or of an agent that is spoken to over HTTP.
func (c *checker) request(b *Block) {
	say := func(a *Attr, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0283", Subject: a.span(), Context: b.Words(), Summary: summary, Detail: detail})
	}
	for _, name := range []string{"url", "base_url"} {
		a := b.attr(name)
		if a == nil {
			continue
		}
		if userinfo().MatchString(a.written()) {
			say(a, "The URL has a user name or a password in it", "It would appear in messages, logs and the store. Send it in headers, "+
				"and read it from a sensitive variable:  headers = { Authorization = \"Basic ${base64encode(\"USER:${var.password}\")}\" }.")
		} else if a.known != nil {
			text, _ := a.known.Const.(string)
			if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				say(a, fmt.Sprintf("%.80q is not a URL of an HTTP server", text), "It begins with http:// or https:// and a host, such as \"https://example.com/path\".")
			}
		}
	}
	if a := b.attr("method"); a != nil && a.known != nil {
		if text, _ := a.known.Const.(string); !methodName().MatchString(text) {
			say(a, fmt.Sprintf("%.40q is not a method", text), `It is a word such as "GET", "POST", "PUT", "PATCH" or "DELETE".`)
		}
	}
	for _, name := range []string{"headers", "query"} {
		a := b.attr(name)
		if a == nil || a.Expr == nil {
			continue
		}
		if t := a.Expr.Type; !t.IsAny() && t.Kind != value.ObjectT && t.Kind != value.MapT {
			say(a, fmt.Sprintf("%s must be an object, and this is %s", name, aKind(t)), fmt.Sprintf("Write  %s = { NAME = \"VALUE\" }.", name))
		} else if bad := notPlain(t); bad != "" {
			say(a, fmt.Sprintf("%q of %s is not text", bad, name), "Members are strings, numbers or bools; a member that is null is left out. jsonencode(…) turns a value into text.")
		}
	}
	if a := b.attr("expect"); a != nil && a.Expr != nil && a.Expr.Kind == ir.Const {
		codes, list := a.Expr.Const.([]any)
		for _, v := range codes {
			if f, number := v.(float64); !number { // F0503 says so
				return
			} else if f < 100 || f > 599 || f != float64(int(f)) {
				say(a, fmt.Sprintf("%s is not a status code", value.Text(f)), "Status codes are whole numbers from 100 to 599.")
				return
			}
		}
		if list && len(codes) == 0 {
			say(a, "No status code is expected", "List the codes that are not failures, such as [200, 404]; the default is 200 to 299.")
		}
	}
}

// notPlain is the first member of an object that cannot become text, or "".
func notPlain(t value.Type) string {
	for _, name := range t.Names() {
		switch t.Attrs[name].Kind {
		case value.ListT, value.SetT, value.MapT, value.TupleT, value.ObjectT:
			return name
		}
	}
	return ""
}
