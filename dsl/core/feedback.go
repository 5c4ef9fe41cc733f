package core

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
)

// feedback becomes a sequence with a repeat, of the producer's step and the reviewer's. One that is itself repeated or undone has its rounds in a
// sequence inside: they are not what is repeated, and only all of them are undone.
func (p *pattern) feedback() func() {
	product, review := p.node("product", "the producer of %s", "product"), p.node("review", "the reviewer of %s", "review")
	p.sameAgent()
	rounds := ""
	if inner(p.Src, "repeat") != nil || inner(p.Src, "compensate") != nil {
		rounds = p.node("rounds", "the rounds of %s", "")
	}
	inside := p.siblings("producer", "task", "with", "reviewer", "review_task")
	return func() {
		p.writeFeedback(product, review, rounds, inside)
		if rounds != "" {
			p.say("\n}")
		}
	}
}

func (p *pattern) writeFeedback(product, review, rounds string, inside map[string]string) {
	results := map[string]string{"product": "step." + product, "review": "step." + review}
	p.group("sequence", p.Block.Name, "producer", "reviewer", "accept", "max_iterations", "task", "review_task", "with", "gates", "value")
	if rounds != "" {
		p.say("value = step.%s.output\n\nsequence %q {\n", rounds, rounds)
	}
	p.say("repeat {\n")
	p.accepted(review, results)
	if a := p.Attrs["max_iterations"]; a != nil {
		p.attr("max", a, nil)
	} else {
		p.say("max = 3\n")
	}
	p.say("}\n")
	if a := p.Attrs["value"]; a != nil {
		p.attr("value", a, results)
	} else {
		p.say("value = step.%s.output\n", product)
	}
	p.say("\nstep %q {\n", product)
	p.attr("agent", p.Attrs["producer"], inside)
	p.attr("task", p.Attrs["task"], inside)
	p.attr("with", p.Attrs["with"], inside)
	p.attr("gates", p.Attrs["gates"], nil)
	if p.Attrs["gates"] != nil { // after a gate's no there was no review
		p.say("feedback = try(last.step.%s.error.gate == null ? null : last.step.%s.error.message, last.step.%s.output)\n}\n", product, product, review)
	} else {
		p.say("feedback = last.step.%s.output\n}\n", review)
	}
	p.say("\nstep %q {\n", review)
	p.attr("agent", p.Attrs["reviewer"], inside)
	p.attr("task", p.Attrs["review_task"], inside)
	p.say("with = {\nproduct = step.%s.output\n", product)
	if a := p.Attrs["with"]; a != nil {
		p.attr("with", a, inside)
	} else {
		p.say("with = null\n")
	}
	p.say("iteration = iteration\n}\n}\n}")
}

// accepted writes the condition that ends the rounds: that there was a review, and what the author asks of it. A round that failed is none
// that can be accepted, and does not end the others.
func (p *pattern) accepted(review string, results map[string]string) {
	a := p.Attrs["accept"]
	text := a.Src.Text()
	if !expr.Readable(a.Src.Expr(), a.Src.File.Src) { // the check says why
		p.attr("until", a, nil)
		return
	}
	start, end, line := 1, len(text)-1, ""
	if strings.HasPrefix(text, "<<") {
		start, line = strings.IndexByte(text, '\n')+1, "\n"
		end = strings.LastIndexByte(strings.TrimRight(text, "\r\n"), '\n') + 1
	} else if strings.Contains(text, "//") { // a comment ends with its line
		line = `\n`
	}
	from := a.Src.Span().Start.Byte
	p.anchor(a.Src.Span())
	defer p.anchor(p.Src.Header)
	p.say("until = ")
	p.copy(from, from+start)
	p.say("step.%s.status == 'succeeded' && (%s", review, line)
	p.exprPart(a, from+start, from+end, results)
	if line == "\n" {
		line = ""
		p.say(")\n")
	} else {
		p.say("%s)", line)
	}
	p.copy(from+end, from+len(text))
	p.say("\n")
}

// sameAgent warns of an agent that reviews its own work.
func (p *pattern) sameAgent() {
	a, b := p.Attrs["producer"], p.Attrs["reviewer"]
	for _, x := range a.Names {
		for _, y := range b.Names {
			if !x.Pool && !y.Pool && x.Name == y.Name {
				p.report(diag.Diagnostic{Severity: diag.Warning, Code: "F0342", Subject: y.Range, Context: p.Words(), Summary: "An agent reviews its own work",
					Detail: "An agent overlooks its own mistakes. Name another agent as the reviewer.",
					Notes:  []diag.Note{{Text: "it produces here", Range: x.Range}}})
				return
			}
		}
	}
}
