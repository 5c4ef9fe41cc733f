package check

import (
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// hookAttrs are the attributes of a block on that belong to webhooks, and hmacAttrs those of them that belong to signature = "hmac".
var (
	hookAttrs = []string{"secret", "signature", "header", "timestamp", "id", "headers"}
	hmacAttrs = []string{"header", "timestamp", "id"}
)

// keptHeaders are headers that an event cannot have: they hold signatures and credentials.
var keptHeaders = []string{"authorization", "cookie", "proxy-authorization", "webhook-signature", "x-hub-signature", "x-hub-signature-256", "x-gitlab-token"}

// isWebhook reports whether a block on is for the deliveries of a webhook.
func isWebhook(b *Block) bool { return strings.HasPrefix(b.Name, ir.WebhookEvents) }

// onData is the type of what event is in a block on.
func (b *Block) onData() value.Type {
	if isFileEvent(b) {
		return *ir.FileData()
	}
	if a := b.attr("data"); isWebhook(b) && (a == nil || a.Type != nil) {
		if a == nil {
			return *ir.WebhookData(nil)
		}
		return *ir.WebhookData(a.Type)
	}
	return b.eventData()
}

// Hook is how a block on recognises deliveries; nil for an event that is not a webhook's.
func (b *Block) Hook() *ir.Hook {
	secret := b.Expr("secret")
	if !isWebhook(b) || secret == nil || len(secret.Reads) != 1 {
		return nil
	}
	h := &ir.Hook{Secret: secret.Reads[0].Name, Signature: ir.SignatureStandard, Header: b.header("header"), Timestamp: b.header("timestamp"), ID: b.header("id")}
	if s := b.Text("signature"); s != "" {
		h.Signature = ir.Signature(s)
	}
	if a := b.attr("headers"); a != nil {
		for _, name := range a.Strings {
			h.Headers = append(h.Headers, strings.ToLower(name))
		}
	}
	if h.Signature == ir.SignatureGitHub {
		h.Headers = append(h.Headers, "x-github-event")
	}
	slices.Sort(h.Headers)
	h.Headers = slices.Compact(h.Headers)
	return h
}

// header is the name of a header field that an attribute gives.
func (b *Block) header(attr string) string { return strings.ToLower(b.Text(attr)) }

// hook checks how a block on recognises deliveries. before is the first block on for the same event, or nil.
func (c *checker) hook(b, before *Block) {
	say := func(code string, at diag.Range, summary, detail string) {
		c.report(diag.Diagnostic{Code: code, Subject: at, Context: b.Words(), Summary: summary, Detail: detail})
	}
	if !isWebhook(b) {
		for _, name := range hookAttrs {
			if a := b.attr(name); a != nil {
				say("F0413", a.Src.Range, fmt.Sprintf("%s belongs to webhooks", name), "The event of a webhook has the name webhook.NAME:  on \"webhook.NAME\" { … }. Rename the event, or remove the attribute.")
				return
			}
		}
		return
	}
	if name := strings.TrimPrefix(b.Name, ir.WebhookEvents); name == "" || name == "*" || strings.HasSuffix(name, ".*") {
		say("F0413", nameRange(b), "A webhook has one name", "The name is the end of its address, POST /webhooks/NAME. Write an  on  block for each webhook:  on \"webhook.NAME\" { … }.")
		return
	}
	hmac := b.Text("signature") == string(ir.SignatureHMAC)
	for _, name := range hmacAttrs {
		a := b.attr(name)
		switch {
		case a != nil && !hmac:
			say("F0413", a.Src.Range, fmt.Sprintf("%s belongs to signature = \"hmac\"", name), "The other signatures have fixed headers. Remove the attribute, or write  signature = \"hmac\".")
		case a == nil && hmac && name == "header" && !b.stray:
			say("F0413", b.Src.Header, fmt.Sprintf("Missing attribute %q in %s", name, b.Words()), "Name the header with the signature, from the documentation of the sender:  header = \"X-Signature\".")
		case a != nil && isWritten(a) && !isHeader(a.Text):
			say("F0413", a.span(), fmt.Sprintf("%.80q is not the name of a header", a.Text), "A name has letters, digits and dashes, such as \"X-Signature\".")
		}
	}
	c.hookHeaders(b, say)
	c.hookSecret(b, say)
	if before == nil {
		return
	}
	for _, name := range hookAttrs {
		if text(b.attr(name)) != text(before.attr(name)) {
			at := b.Src.Header
			if a := b.attr(name); a != nil {
				at = a.Src.Range
			}
			c.report(diag.Diagnostic{Code: "F0415", Subject: at, Context: b.Words(), Summary: fmt.Sprintf("Two \"on\" blocks verify the deliveries of one webhook differently: %s", name),
				Detail: "Both have the same address. Use the same value in both, or rename one of the webhooks.",
				Notes:  []diag.Note{{Text: "the first one", Range: before.Src.Header}}})
			return
		}
	}
}

// text is an attribute as the file has it; "" if it is not there.
func text(a *Attr) string {
	if a == nil {
		return ""
	}
	return a.Src.Text()
}

// isHeader reports whether a text can be the name of a header field.
func isHeader(text string) bool {
	return text != "" && len(text) <= 100 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

func (c *checker) hookHeaders(b *Block, say func(code string, at diag.Range, summary, detail string)) {
	a := b.attr("headers")
	if a == nil {
		return
	}
	for _, name := range a.Strings {
		low := strings.ToLower(name)
		switch {
		case !isHeader(name):
			say("F0413", a.span(), fmt.Sprintf("%.80q is not the name of a header", name), "A name has letters, digits and dashes, such as \"X-GitHub-Event\".")
		case slices.Contains(keptHeaders, low), low == b.header("header"):
			say("F0413", a.span(), fmt.Sprintf("The header %s cannot be part of an event", textproto.CanonicalMIMEHeaderKey(name)), "It holds a signature or a credential, and events are kept in the store. flowrun checks the signature before it creates the event.")
		}
	}
}

// hookSecret checks that the key of a webhook's signatures is a sensitive variable.
func (c *checker) hookSecret(b *Block, say func(code string, at diag.Range, summary, detail string)) {
	a := b.attr("secret")
	switch {
	case a == nil && !b.stray:
		say("F0414", b.Src.Header, fmt.Sprintf("Missing attribute %q in %s", "secret", b.Words()), "Deliveries have no token, so each needs a signature. Declare a sensitive variable for the key, and write  secret = var.NAME.")
	case a != nil && a.Expr != nil && (!a.Expr.Sensitive || len(a.Expr.Reads) != 1 || a.Src.Text() != a.Expr.Reads[0].String()):
		say("F0414", a.span(), "The secret of a webhook is not a sensitive variable", "The daemon reads the key from the source of the variable, so neither the program nor the store contains it. Declare  variable \"NAME\"  with  sensitive = true,  and write  secret = var.NAME.")
	}
}

// delivered checks what a test delivers to a webhook. known tells that the data of the moment is known.
func (c *testChecker) delivered(b *Block, m *ir.Moment, known bool) {
	say := func(at diag.Range, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0416", Subject: at, Context: b.Words(), Summary: summary, Detail: detail})
	}
	isHook := slices.ContainsFunc(c.program.Ons, func(on *Block) bool { return on.Name == m.Name && isWebhook(on) })
	if a := b.attr("forge"); a != nil && !isHook {
		say(a.Src.Range, "This event has no signature", "forge is for the deliveries of a webhook of the program:  on \"webhook.NAME\" { … }.")
	}
	if !isHook || !known {
		return
	}
	at := nameRange(b)
	if a := b.attr("data"); a != nil {
		at = a.span()
	}
	o, is := m.Data.(map[string]any)
	headers, given := o["headers"]
	_, isObject := headers.(map[string]any)
	_, hasBody := o["body"]
	for name := range o { // any order: one is enough
		is = is && (name == "body" || name == "headers")
	}
	if !is || !hasBody || given && !isObject {
		say(at, "This is not a delivery to a webhook", "It is an object of body and, optionally, headers:  data = { body = { … }, headers = { x-kind = \"…\" } }. The id of the delivery is key.")
		return
	}
	if m.Of != "" {
		say(b.attr("run").span(), "A delivery to a webhook has no single receiver", "Each run that waits for the event receives it. Remove run.")
	}
}
