package compose

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Bounds and defaults of memory steps.
const (
	defaultSearched   = 10
	defaultBudget     = 1000
	defaultImportance = 0.5
)

// composeMemory adds an agent's soul and its use of the memory to a request.
func (c *Composer) composeMemory(q *event.AgentRequest, g *ir.Agent, sc *Scope) (place string, err error) {
	if u := g.Memory; u != nil {
		q.Memory = &event.MemoryUse{Recall: u.Recall, Budget: u.Budget, Most: u.Most, Groups: u.Groups, Learn: u.Learn, Trusted: u.Trusted, Promote: u.Promote}
	}
	if g.Soul != nil {
		place = fmt.Sprintf("soul of agent %q", g.Name)
		q.Soul, err = c.Text(g.Soul, sc)
	}
	return place, err
}

// composeRemember computes the entry that a step writes to the memory.
func (c *Composer) composeRemember(r *ir.Remember, sc *Scope) (q *event.Remember, place string, err error) {
	q = &event.Remember{Type: r.Type, Agent: r.Agent, Scope: r.Scope, Importance: defaultImportance}
	for _, part := range []struct {
		name string
		expr *ir.Expr
		to   *string
	}{{"text", r.Text, &q.Text}, {"lesson", r.Lesson, &q.Lesson}, {"context", r.Context, &q.Context}, {"observation", r.Observation, &q.Observation}} {
		if part.expr == nil {
			continue
		}
		if *part.to, err = c.Text(part.expr, sc); err == nil && len(*part.to) > limits.MaxRemembered {
			err = fmt.Errorf("it has %d bytes, and %d can be remembered", len(*part.to), limits.MaxRemembered)
		}
		if err != nil {
			return nil, part.name, err
		}
	}
	if r.Tags != nil {
		if q.Tags, err = c.evalTags(r.Tags, sc); err != nil {
			return nil, "tags", err
		}
	}
	if r.Importance != nil {
		if q.Importance, err = c.evalShare(r.Importance, sc); err != nil {
			return nil, "importance", err
		}
	}
	return q, "", nil
}

// composeRecall computes the query of a recall step.
func (c *Composer) composeRecall(r *ir.Recall, sc *Scope) (q *event.Recall, place string, err error) {
	q = &event.Recall{Type: r.Type, Agent: r.Agent, Groups: r.Groups}
	if q.Query, err = c.Text(&r.Query, sc); err != nil {
		return nil, "query", err
	}
	if r.Tag != nil {
		if q.Tag, err = c.Text(r.Tag, sc); err != nil {
			return nil, "tag", err
		}
	}
	if q.K, err = c.Count(r.K, sc, defaultSearched, limits.MaxRecalled); err != nil {
		return nil, "k", err
	}
	q.Budget, err = c.Count(r.Budget, sc, defaultBudget, limits.MaxRecallBudget)
	return q, "budget", err
}

// evalTags evaluates a list of tags.
func (c *Composer) evalTags(e *ir.Expr, sc *Scope) ([]string, error) {
	v, err := c.eval.Eval(e, sc)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok || len(list) > limits.MaxTags {
		return nil, fmt.Errorf("a list of at most %d texts is needed, but this is %.60s", limits.MaxTags, value.Text(v))
	}
	out := make([]string, len(list))
	for i, t := range list {
		if out[i], ok = t.(string); !ok || out[i] == "" {
			return nil, fmt.Errorf("a tag is a text that is not empty, and this is %.60s", value.Append(nil, t))
		}
	}
	return out, nil
}
