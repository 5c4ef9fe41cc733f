package compose

import (
	"fmt"
	"strconv"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// reviewTask is what a judge is asked if the file does not say.
const reviewTask = `Judge the result. Give each criterion a score from 0 to 1, and list what is wrong with it. Answer with an object: {"scores": {"CRITERION": 0.8}, "findings": [{"severity": "info, low, medium, high or critical", "message": "TEXT", "file": "PATH", "line": 1}]}.`

// judgement is the type of what a judge answers, as a file has it.
const judgement = "object({ scores = map(number), findings = list(object({ severity = string, message = string, file = optional(string), line = optional(number) })) })"

// Review computes an attempt of a gate that an agent judges. The request holds the result, the task of the step and the criteria. All
// attempts of a judge at one result have the same key.
func (c *Composer) Review(w *Work, g *ir.Gate, judge *ir.Agent) (*event.Attempt, *event.Error) {
	work := *w
	work.Agent, work.Feedback = judge, ""
	a := c.newAttempt(&work)
	a.Gate, a.Key, a.Admission = g.Name, c.attemptKey(w, g.Name, strconv.Itoa(w.Attempt)), w.Admission
	timeout := g.Timeout
	if timeout == nil {
		timeout = judge.Timeout
	}
	if err := c.composeCommon(a, &work, c.listEnvs(&work), c.listDirs(&work), nil, timeout); err != nil {
		return nil, err
	}
	pass := judge.PassEnv
	if pass == nil {
		pass = c.passEnv(&work)
	}
	if place, err := c.composeAgent(a, &work, pass); err != nil {
		return nil, EvaluationError(place, err)
	}
	if a.Agent.Tool != nil || a.Agent.ACP != nil || judge.Type == ir.AgentA2A {
		a.Agent.Wanted = judgement
	}
	a.Agent.Memory = nil // what was learned of other work is not evidence
	if err := c.composeJudgement(a, w, g.Review); err != nil {
		return nil, EvaluationError("review", err)
	}
	return a, nil
}

// composeJudgement computes what a judge is asked, and over what.
func (c *Composer) composeJudgement(a *event.Attempt, w *Work, review *ir.Review) error {
	a.Agent.Task = reviewTask
	if review.Task != nil {
		if err := c.composePart(a, request.Task, "task of the review", review.Task, w.Scope); err != nil {
			return err
		}
	}
	criteria, err := c.Criteria(review, w.Scope)
	if err != nil {
		return err
	}
	if a.Agent.Chat != nil {
		a.Agent.Chat.Output = judgementType(criteria)
	}
	bounds := map[string]value.Value{}
	for name, least := range criteria { // any order: it fills an object
		bounds[name] = least
	}
	result := map[string]value.Value{}
	for _, attr := range []string{"output", "stdout", "stderr", "exit_code"} {
		result[attr] = w.Scope.readResult(attr)
	}
	with := map[string]value.Value{"result": result, "criteria": bounds, "task": nil}
	if task, ok := w.Node.Action.(*ir.AgentTask); ok && task.Task != nil && !task.Task.Sensitive {
		scope := *w.Scope
		scope.Mode = Plain // a task is given before there is a result
		if with["task"], err = c.eval.Eval(task.Task, &scope); err != nil {
			return fmt.Errorf("task of the step: %w", err)
		}
	}
	a.Agent.With = with
	return request.CheckSize(a.Agent.With)
}

// Criteria computes the lowest score of each criterion of a review.
func (c *Composer) Criteria(review *ir.Review, sc *Scope) (map[string]float64, error) {
	if review.Criteria == nil {
		return nil, nil
	}
	v, err := c.eval.Eval(review.Criteria, sc)
	if err != nil {
		return nil, fmt.Errorf("criteria: %w", err)
	}
	object, ok := v.(map[string]value.Value)
	if !ok {
		return nil, fmt.Errorf("criteria: a map of numbers is needed, but this is %.60s", value.Text(v))
	}
	out := make(map[string]float64, len(object))
	for name, v := range object { // any order: it fills a map
		if out[name], ok = v.(float64); !ok {
			return nil, fmt.Errorf("criteria: a map of numbers is needed, but this is %.60s", value.Text(object))
		}
	}
	return out, nil
}
