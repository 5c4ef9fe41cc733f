package sim_test

import "fmt"

// hasPatterns reports whether the program of a seed has feedbacks, consensuses and competitions.
func hasPatterns(seed uint64) bool { return seed%4 == 2 }

// pattern writes one of the three. Which member of a pool works depends on time, as do losers and joins before the end, so what an untimed
// program makes of them does not.
func (w *writer) pattern(depth int, timed bool) {
	r := w.patterns
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	w.drawn++
	name := fmt.Sprintf("f%d", w.drawn)
	kind := one("feedback", "consensus", "compete")
	w.line(depth, "%s %q {", kind, name)
	depth++
	if len(w.seen) > 0 && !w.early && maybe(3) {
		w.line(depth, "depends_on = [step.%s]", w.seen[r.IntN(len(w.seen))])
		w.line(depth, "trigger_rule = %q", one("all_done", "none_failed"))
	}
	if maybe(4) {
		w.line(depth, `for_each = ["x", "y"]`)
	}
	if maybe(2) {
		w.line(depth, `on_error = "continue"`)
	}
	if maybe(3) {
		w.line(depth, "retry { max_attempts = 2 }")
	}
	if maybe(4) {
		w.line(depth, "max_concurrency = 1")
	}
	w.line(depth, `task = "do"`)
	w.line(depth, "with = { n = 1 }")
	switch kind {
	case "feedback":
		w.line(depth, "producer = %s", one("agent.echo", "pool.echoes"))
		w.line(depth, "reviewer = %s", one("agent.echo2", "pool.echoes"))
		w.line(depth, "accept = %q", one("iteration > 1", "product.attempts == review.attempts", "review.status == 'succeeded' && product.output != null", "false"))
		w.line(depth, "max_iterations = %d", 1+r.IntN(3))
		if maybe(3) {
			w.line(depth, "gates = [gate.better]")
		}
		if maybe(3) {
			w.line(depth, "repeat { max = 2 }")
		}
	case "consensus":
		w.line(depth, "participants = [agent.echo, agent.echo2, agent.echo3]")
		votes := []string{`"yes"`, "result.attempts", "result.attempts > 1 ? null : 1"}
		if timed {
			votes = append(votes, "result.agent")
		}
		w.line(depth, "vote = %s", one(votes...))
		w.line(depth, "%s", one(`method = "unanimous"`, "threshold = 0.5", "quorum = 1"))
		if maybe(2) {
			w.line(depth, "tie_breaker = agent.echo2")
		}
	case "compete":
		w.line(depth, "agents = [agent.echo, agent.echo2, agent.echo3]")
		w.line(depth, "score = %s", one("result.attempts", "2", "result.attempts > 1 ? null : 1"))
		if timed && maybe(2) {
			w.line(depth, "join = %s", one(`"any"`, "2"))
			w.line(depth, "losers = %q", one("wait", "cancel"))
		}
	}
	if timed && maybe(3) {
		w.line(depth, `timeout = "%ds"`, 1+r.IntN(30))
	}
	w.line(depth-1, "}")
}
