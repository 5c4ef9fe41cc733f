package core

import "slices"

// compete becomes a parallel with a step for each agent, whose value is the output of the winner.
func (p *pattern) compete() func() {
	runners := p.participants("agents", "%s of %%s", "result")
	race := p.Block.Name
	if p.Attrs["for_each"] != nil { // a join of instances is another one
		race = p.node("race", "the race of %s", "")
	}
	inside := p.siblings("task", "with", "timeout", "score", "join")
	return func() {
		own := []string{"agents", "task", "with", "score", "join", "timeout"}
		if race != p.Block.Name {
			p.group("sequence", p.Block.Name, append(own, "losers")...)
			p.say("value = step.%s.output\nwinner = step.%s.winner\n\nparallel %q {\n", race, race, race)
			p.attr("losers", p.Attrs["losers"], nil)
		} else {
			p.group("parallel", race, own...)
		}
		p.join()
		if p.Attrs["score"] != nil {
			p.best(runners, inside)
		} else {
			p.first(runners)
		}
		for _, r := range runners {
			p.say("\nstep %q {\n", r.step)
			p.reference(r)
			p.attr("task", p.Attrs["task"], inside)
			p.attr("with", p.Attrs["with"], inside)
			p.attr("timeout", p.Attrs["timeout"], inside)
			if p.Attrs["timeout"] != nil || p.declared.limited(r.agent) {
				p.say("on_timeout = \"hand_in\"\n")
			}
			p.say("on_error = \"continue\"\n}\n")
		}
		if race != p.Block.Name {
			p.say("}\n")
		}
		p.say("}")
	}
}

// join writes when the race has enough: with a score when all have ended and one has succeeded, else with the first success.
func (p *pattern) join() {
	switch a := p.Attrs["join"]; {
	case a != nil:
		p.attr("join", a, nil)
	case p.Attrs["score"] == nil:
		p.say("join = \"first_success\"\n")
	default:
		p.say("join = 1\n")
		if p.Attrs["losers"] == nil {
			p.say("losers = \"wait\"\n")
		}
	}
}

// best writes the output and the name of the one with the highest score.
func (p *pattern) best(runners []participant, inside map[string]string) {
	scores := func() {
		p.anchor(p.Attrs["score"].Src.Span())
		defer p.anchor(p.Src.Header)
		p.say("argmax({\n")
		for _, r := range runners {
			p.say("%s = step.%s.output == null ? null : ", key(r.agent), r.step)
			p.expr(p.Attrs["score"], with(inside, "result", "step."+r.step))
			p.say("\n")
		}
		p.say("})")
	}
	p.say("value = { for name, output in {\n")
	for _, r := range runners {
		p.say("%s = step.%s.output\n", key(r.agent), r.step)
	}
	p.say("} : name => output if output != null }[coalesce(")
	scores()
	p.say(")]\nwinner = coalesce(")
	scores()
	p.say(")\n")
}

// first writes the output and the name of the one that succeeded.
func (p *pattern) first(runners []participant) {
	choose := func(of func(participant)) {
		for i, r := range runners {
			if i < len(runners)-1 {
				p.say("step.%s.status == \"succeeded\" ? ", r.step)
			}
			of(r)
			if i < len(runners)-1 {
				p.say(" : ")
			}
		}
		p.say("\n")
	}
	p.say("value = ")
	if slices.ContainsFunc(runners, func(r participant) bool { t := p.declared.output(r.agent); return t.IsAny() || t.Nullable }) {
		choose(func(r participant) { p.say("step.%s.output", r.step) })
	} else { // whoever succeeded has an output
		p.say("[for output in [")
		for i, r := range runners {
			if i > 0 {
				p.say(", ")
			}
			p.say("step.%s.output", r.step)
		}
		p.say("] : output if output != null][0]\n")
	}
	p.say("winner = ")
	choose(func(r participant) { p.say("%q", r.agent) })
}
