package check

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop/schedule"
)

// routines checks the routines, once the inputs of all workflows are known.
func (c *checker) routines() {
	hidden := map[string]string{}
	for _, name := range schema.Roots {
		hidden[name] = "A routine is evaluated before its run exists, so it reads only var and local. The workflow itself can read run.cause.scheduled_at."
	}
	env := c.env(nil, hidden)
	for _, b := range c.program.Routines {
		c.expressions(b, func(string) *expr.Env { return env })
		c.due(b)
		c.routineStarts(b)
	}
}

// due checks when a routine is due.
func (c *checker) due(b *Block) {
	cron, every, zone := b.attr("cron"), b.attr("every"), b.attr("timezone")
	say := func(code string, at diag.Range, summary, detail string) {
		c.report(diag.Diagnostic{Code: code, Subject: at, Context: b.Words(), Summary: summary, Detail: detail})
	}
	for _, a := range []*Attr{every, b.attr("jitter")} {
		if a != nil && a.Expr != nil && a.known == nil {
			say("F0407", a.span(), fmt.Sprintf("%s of a routine is not known before a run", a.Src.Name), fmt.Sprintf("Write a literal:  %s = \"15m\".", a.Src.Name))
			return
		}
	}
	switch {
	case cron == nil && every == nil:
		if !b.stray {
			say("F0408", b.Src.Header, "The routine has no schedule", "Write  cron = \"0 2 * * MON-FRI\"  or  every = \"15m\".")
		}
		return
	case cron != nil && every != nil:
		say("F0408", every.span(), "Two schedules of one routine", "cron and every are both schedules. Remove one of them, or write a second routine.")
		return
	}
	if zone != nil && zone.Text != "" {
		if e := schedule.UnknownZone(zone.Text); e != nil {
			say("F0407", zone.span(), upper(e.Message), e.Hint)
			return
		}
	}
	if every != nil {
		c.dueEvery(b, every, say)
		return
	}
	if _, ok := literal(cron.Src.Expr()); !ok { // which was reported
		return
	}
	s, err := schedule.Parse(cron.Text, b.Text("timezone"))
	var e *schedule.Error
	if errors.As(err, &e) {
		if e.Hint == "" {
			e.Hint = "The five fields are minute, hour, day of the month, month and day of the week, as in  cron = \"30 8 * * MON-FRI\"."
		}
		say("F0407", cron.inText(e.Start, e.End), upper(e.Message), e.Hint)
		return
	}
	if _, ok := s.Next(firstMoment); !ok {
		say("F0408", cron.span(), fmt.Sprintf("The routine is not due within %d years", schedule.Horizon), "No day has this date. Change the day of the month, or the month.")
	}
}

// firstMoment is where the checker begins to look for a moment of a schedule. It is a constant, so that a file is right or wrong whenever it
// is read.
var firstMoment = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (c *checker) dueEvery(b *Block, every *Attr, say func(code string, at diag.Range, summary, detail string)) {
	interval := b.Span("every")
	if interval == 0 { // which was reported
		return
	}
	if interval < schedule.MinEvery {
		say("F0407", every.span(), "The interval is too short", fmt.Sprintf("The shortest interval is %s.", schedule.MinEvery))
	}
	if jitter := b.attr("jitter"); jitter != nil && b.Span("jitter") >= interval {
		say("F0409", jitter.span(), "The jitter is as long as the interval", "The runs could change their order. Use a jitter shorter than every.")
	}
}

// Span is the length of a duration that is known from the file; 0 if it is not, or was refused.
func (b *Block) Span(name string) time.Duration {
	a := b.Attrs[name]
	if a == nil || a.known == nil {
		return 0
	}
	text, _ := a.known.Const.(string)
	d, err := value.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// inText is the place of some bytes of a text that is written out.
func (a *Attr) inText(start, end int) diag.Range {
	t, ok := a.Src.Expr().(*hclsyntax.TemplateExpr)
	if !ok || len(t.Parts) != 1 || start == end {
		return a.span()
	}
	from := expr.Offsets(a.Text, t.Parts[0].Range(), a.Src.File.Src, a.Src.Text()[0] == '"')
	return a.Src.File.Range(from[start], from[end])
}

// routineStarts checks the workflow that a routine starts, and what it gives to it.
func (c *checker) routineStarts(b *Block) {
	a := b.attr("workflow")
	r := a.ref()
	to := c.workflows[r.Name]
	if to == nil {
		if r.Name != "" {
			c.unknownDeclared(b, r, "workflow", c.callable)
		}
		return
	}
	with := b.attr("with")
	if with != nil && with.Expr != nil && with.Expr.Sensitive { // which was reported
		return
	}
	c.givenTo(to, b, a)
	if with != nil && with.Expr != nil {
		for _, in := range to.Inputs {
			s := in.attr("sensitive")
			if _, given := with.Expr.Type.Attrs[in.Name]; s == nil || !s.Flag || !given {
				continue
			}
			c.report(diag.Diagnostic{Code: "F0409", Subject: with.key(in.Name), Context: b.Words(), Summary: fmt.Sprintf("Input %q of workflow %q is sensitive", in.Name, to.Name),
				Detail: "Inputs of a routine are kept in the store, so they cannot be secret. Let the workflow read a sensitive variable instead of the input.",
				Notes:  []diag.Note{{Text: "declared here", Range: nameRange(in.Block)}}})
		}
	}
	if overlap, own := b.attr("overlap"), to.Inner("concurrency"); overlap != nil && own != nil && overlap.Text != "" {
		c.report(diag.Diagnostic{Code: "F0409", Subject: overlap.span(), Context: b.Words(), Summary: fmt.Sprintf("overlap has no effect: workflow %q has a concurrency block", to.Name),
			Detail: "A run belongs to only one concurrency group. Remove overlap, or the block.", Notes: []diag.Note{{Text: "the block", Range: own.Src.Header}}})
	}
}
