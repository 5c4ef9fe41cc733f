package check

import (
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// channelHas says which types of channel have an attribute, and which of them need it.
var channelHas = []struct {
	attr string
	has  []ir.ChannelType
	must bool
}{
	{"url", []ir.ChannelType{ir.ChannelWebhook, ir.ChannelSlack, ir.ChannelNtfy}, true},
	{"secret", []ir.ChannelType{ir.ChannelWebhook, ir.ChannelNtfy, ir.ChannelSMTP}, false},
	{"headers", []ir.ChannelType{ir.ChannelWebhook, ir.ChannelSlack, ir.ChannelNtfy}, false},
	{"command", []ir.ChannelType{ir.ChannelExec}, true},
	{"host", []ir.ChannelType{ir.ChannelSMTP}, true},
	{"from", []ir.ChannelType{ir.ChannelSMTP}, true},
	{"to", []ir.ChannelType{ir.ChannelSMTP}, true},
	{"path", []ir.ChannelType{ir.ChannelFile}, true},
}

// channel checks a channel that is declared: that it has what its type needs, and what is known of that before the run.
func (c *checker) channel(b *Block) {
	env := c.env(nil, nil)
	c.expressions(b, func(string) *expr.Env { return env })
	say := func(at diag.Range, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0365", Subject: at, Context: b.Words(), Summary: summary, Detail: detail})
	}
	kind := ir.ChannelType(b.Text("type"))
	if !slices.Contains(ir.ChannelTypes, kind) { // which was reported
		return
	}
	for _, x := range channelHas {
		a, fits := b.attr(x.attr), slices.Contains(x.has, kind)
		switch {
		case a == nil && fits && x.must && !b.stray:
			say(b.Src.Header, fmt.Sprintf("Missing attribute %q in %s", x.attr, b.Words()), fmt.Sprintf("A channel of type %s needs it: %s", kind, b.Schema.Attr(x.attr).Doc))
		case a != nil && !fits:
			say(a.Src.Range, fmt.Sprintf("Channel of type %s has no %s", kind, x.attr), fmt.Sprintf("The attribute belongs to channels of type %s. Remove it, or change the type.", schema.Either(ir.Texts(x.has))))
		}
	}
	c.request(b)
	if a := b.attr("url"); a != nil && a.known != nil {
		if u, err := url.Parse(a.written()); err == nil && kind == ir.ChannelNtfy && strings.Trim(u.Path, "/") == "" {
			say(a.span(), "The address of ntfy has no topic", "The topic is the path of the address:  url = \"https://ntfy.example.com/TOPIC\".")
		}
	}
	if a := b.attr("from"); a != nil && a.known != nil {
		c.address(a, a.known.Const, say)
	}
	if a := b.attr("to"); a != nil && a.Expr != nil {
		c.addresses(a, say)
	}
	if a := b.attr("path"); a != nil && a.known != nil && a.known.Const == "" {
		say(a.span(), "path is empty", "It names a file:  path = \"messages.jsonl\".")
	}
}

// addresses checks the receivers of mails.
func (c *checker) addresses(a *Attr, say func(diag.Range, string, string)) {
	t := a.Expr.Type
	if !t.IsAny() && t.Kind != value.StringT && t.Kind != value.ListT && t.Kind != value.TupleT && t.Kind != value.SetT {
		say(a.span(), fmt.Sprintf("to must be an address or a list of addresses, and this is %s", aKind(t)), "Write  to = \"team@example.com\"  or  to = [\"a@example.com\", \"b@example.com\"].")
		return
	}
	if a.Expr.Kind != ir.Const {
		return
	}
	list, many := a.Expr.Const.([]any)
	if !many {
		list = []any{a.Expr.Const}
	}
	if len(list) == 0 {
		say(a.span(), "No receiver", "Write  to = \"team@example.com\".")
	}
	for _, v := range list {
		c.address(a, v, say)
	}
}

func (c *checker) address(a *Attr, v value.Value, say func(diag.Range, string, string)) {
	text, _ := v.(string)
	if _, err := mail.ParseAddress(text); err != nil {
		say(a.span(), fmt.Sprintf("%.80q is not a mail address", value.Text(v)), "An address has a name, an @ and a host, such as \"team@example.com\" or \"The team <team@example.com>\".")
	}
}

// tells checks the channels that an attribute names: they are declared, and each stands once.
func (c *checker) tells(b *Block, attr string) {
	a := b.attr(attr)
	if a == nil {
		return
	}
	say := func(at diag.Range, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0366", Subject: at, Context: b.Words(), Summary: summary, Detail: detail})
	}
	known, seen := a.Names[:0], map[string]bool{}
	for _, r := range a.Names {
		switch {
		case c.channels[r.Name] == nil:
			c.unknownDeclared(b, r, "channel", c.channels)
			continue
		case seen[r.Name]:
			say(r.Range, fmt.Sprintf("Channel %q is named twice", r.Name), "It gets the message once. Remove one of the two.")
			continue
		}
		seen[r.Name], c.told[r.Name] = true, true
		known = append(known, r)
	}
	if len(a.Names) == 0 {
		say(a.span(), fmt.Sprintf("%s names no channel", attr), fmt.Sprintf("The message has no receiver:  %s = [channel.NAME].", attr))
	}
	if len(known) > schema.MaxReceivers {
		say(a.span(), fmt.Sprintf("A message to %d channels", len(known)), fmt.Sprintf("The limit is %d.", schema.MaxReceivers))
	}
	a.Names = known
}

// notify checks what is known of a message from the file.
func (c *checker) notify(b *Block) {
	c.tells(b, "to")
	for _, part := range []struct {
		attr string
		most int
	}{{"text", schema.MaxMessage}, {"title", schema.MaxTitle}, {"level", schema.MaxLevel}} {
		a := b.attr(part.attr)
		if a == nil || a.known == nil {
			continue
		}
		text, _ := a.known.Const.(string)
		d := diag.Diagnostic{Code: "F0366", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("%s is empty", part.attr), Detail: fmt.Sprintf("It has 1 to %d bytes.", part.most)}
		if len(text) > part.most {
			d.Summary = fmt.Sprintf("%s has %d bytes", part.attr, len(text))
		}
		if text == "" && part.attr != "title" || len(text) > part.most {
			c.report(d)
		}
	}
	if a := b.attr("data"); a != nil && a.known != nil {
		if size := len(value.Append(nil, a.known.Const)); size > schema.MaxMessage {
			c.report(diag.Diagnostic{Code: "F0366", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("The data of a message of %d bytes", size),
				Detail: fmt.Sprintf("The limit is %d bytes as JSON. Write the data to a file, and say where it is.", schema.MaxMessage)})
		}
	}
}
