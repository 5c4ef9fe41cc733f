package core

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/value"
)

// consensus becomes a sequence of a parallel with a step for each participant, a step that counts, and a step that fails where nothing is
// decided.
func (p *pattern) consensus() func() {
	votes, count := p.node("votes", "the votes of %s", ""), p.node("count", "the count of %s", "")
	undecided := p.node("undecided", "the end of %s", "")
	voters := p.participants("participants", "participant %s of %%s", "result")
	tie, decision, decided := "", "", "step."+count+".output.decision"
	if p.Attrs["tie_breaker"] != nil {
		tie, decision = p.node("tie", "the tie breaker of %s", "result"), p.node("decision", "the decision of %s", "")
		decided = "step." + decision + ".output"
	}
	for _, v := range voters {
		if !p.failed {
			p.canVote([]string{v.agent}, v.at)
		}
	}
	if a := p.Attrs["tie_breaker"]; a != nil && !p.failed {
		p.canVote(p.declared.assigned(a), a.Src.Span())
	}
	inside := p.siblings("task", "with", "vote", "tie_breaker", "timeout")
	return func() {
		p.group("sequence", p.Block.Name, "participants", "task", "with", "vote", "method", "weights", "threshold", "quorum", "tie_breaker", "timeout")
		p.say("value = {\ndecision = [for option in [%s] : option if option != null][0]\n", decided)
		for _, name := range []string{"share", "tied", "tally", "votes", "abstained", "cast"} {
			p.say("%s = step.%s.output.%s\n", name, count, name)
		}
		p.say("}\n")
		p.say("\nparallel %q {\n", votes)
		for _, v := range voters {
			p.say("step %q {\n", v.step)
			p.reference(v)
			p.attr("task", p.Attrs["task"], inside)
			p.attr("with", p.Attrs["with"], inside)
			p.attr("timeout", p.Attrs["timeout"], inside)
			p.say("on_error = \"continue\"\n}\n")
		}
		p.say("}\n")
		p.count(count, voters, inside)
		if tie != "" {
			p.breakTie(tie, count, decision, inside)
		}
		p.say("\nstep %q {\nwhen = \"%s == null\"\nfail {\n", undecided, decided)
		p.say("message = \"%s: ${step.%s.output.cast} of %d voted, ${jsonencode(step.%s.output.tally)}\"\n", p.undecided(), count, len(voters), count)
		p.say("reason = \"undecided\"\ngroup = true\n}\n}\n}")
	}
}

// undecided says in a message what did not come about.
func (p *pattern) undecided() string {
	method := p.Block.Text("method")
	if method == "" {
		method = "majority"
	}
	return "nothing is decided (" + method + ")"
}

// count writes the step that counts.
func (p *pattern) count(name string, voters []participant, inside map[string]string) {
	p.say("\nstep %q {\nvalue = vote({\n", name)
	for _, v := range voters {
		p.say("%s = ", key(v.agent))
		p.vote(v.step, []string{v.agent}, inside)
		p.say("\n")
	}
	p.say("}, {\n")
	if a := p.Attrs["method"]; a != nil {
		p.attr("method", a, nil)
	} else {
		p.say("method = \"majority\"\n")
	}
	for _, rule := range []string{"threshold", "quorum", "weights"} {
		p.attr(rule, p.Attrs[rule], inside)
	}
	p.say("})\n}\n")
}

// vote writes the vote of a step: null where it has no output.
func (p *pattern) vote(step string, agents []string, inside map[string]string) {
	a := p.Attrs["vote"]
	p.say("step.%s.output == null ? null : ", step)
	switch t := p.declared.sharedOutput(agents); {
	case a != nil:
		p.expr(a, with(inside, "result", "step."+step))
	case t.Kind == value.ObjectT:
		p.say("step.%s.output.vote", step)
	case t.IsAny() || t.Kind == value.MapT:
		p.say("try(step.%s.output.vote, step.%s.output)", step, step)
	default:
		p.say("step.%s.output", step)
	}
}

// namesOption reports whether the vote of agents is always a text, so that it names an option, and gives no scores.
func (p *pattern) namesOption(agents []string) bool {
	t := p.declared.sharedOutput(agents)
	if t.Kind == value.ObjectT {
		t = t.Attrs["vote"]
	}
	return p.Attrs["vote"] == nil && t.Kind == value.StringT
}

// canVote reports agents whose output is an object without a vote, where nothing says what the vote is.
func (p *pattern) canVote(agents []string, at diag.Range) {
	t := p.declared.sharedOutput(agents)
	if _, there := t.Attrs["vote"]; there || t.Kind != value.ObjectT || p.Attrs["vote"] != nil {
		return
	}
	example := "result.output.NAME"
	if names := t.Names(); len(names) > 0 {
		example = "result.output." + names[0]
	}
	p.report(diag.Diagnostic{Code: "F0346", Subject: at, Context: p.Words(), Summary: "The vote of this agent is not defined",
		Detail: fmt.Sprintf("The output is %s, and without the attribute vote its member vote counts. Name the vote:  vote = %s.", t, example)})
}

// breakTie writes the step of the tie breaker, and the one that has the decision.
func (p *pattern) breakTie(tie, count, decision string, inside map[string]string) {
	p.say("\nstep %q {\nwhen = \"step.%s.output.decision == null\"\n", tie, count)
	p.attr("agent", p.Attrs["tie_breaker"], inside)
	p.attr("task", p.Attrs["task"], inside)
	p.say("with = {\nvotes = step.%s.output.votes\ntally = step.%s.output.tally\n", count, count)
	if a := p.Attrs["with"]; a != nil {
		p.attr("with", a, inside)
	} else {
		p.say("with = null\n")
	}
	p.say("}\n")
	p.attr("timeout", p.Attrs["timeout"], inside)
	p.say("on_error = \"continue\"\n}\n")
	p.say("\nstep %q {\nvalue = step.%s.output.decision == null ? (\n", decision, count)
	scores := p.Block.Text("method") == "score" && !p.namesOption(p.declared.assigned(p.Attrs["tie_breaker"]))
	if scores {
		p.say("[for vote in [\n")
	}
	p.vote(tie, p.declared.assigned(p.Attrs["tie_breaker"]), inside)
	if scores { // its highest score decides, or the option that it names
		p.say("\n] : can(keys(vote)) ? vote({ tie_breaker = vote }, { method = \"score\" }).decision : tostring(vote)][0]")
	}
	p.say("\n) : step.%s.output.decision\n}\n", count)
}

func with(m map[string]string, name, text string) map[string]string {
	out := map[string]string{name: text}
	for k, v := range m { // any order: it fills a map
		out[k] = v
	}
	return out
}
