package compose

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// Bounds of an approval.
const (
	// MaxPrompt is the size of a prompt in bytes.
	MaxPrompt = 16 << 10
	// MaxShown is the size of what is shown as JSON, in bytes.
	MaxShown = 64 << 10
	// defaultRevisions is how many revisions an approval takes that does not say so, and maxRevisions how many one can take.
	defaultRevisions, maxRevisions = 5, 9999
)

// Approval computes what the people of an approval see and may do. The error is blocking: a retry would fail in the same way.
func (c *Composer) Approval(a *ir.Approve, sc *Scope) (*event.Ask, *event.Error) {
	q := &event.Ask{Kind: event.AskApproval, Words: []event.Word{event.WordApprove, event.WordReject}}
	place, err := c.composeApproval(q, a, sc)
	if err != nil {
		return nil, EvaluationError(place, err)
	}
	if len(q.Approvers) > 0 && max(q.Quorum, q.Rejections) > len(q.Approvers) {
		return nil, EvaluationError("approvers", fmt.Errorf("%d people must decide, and there are %d approvers", max(q.Quorum, q.Rejections), len(q.Approvers)))
	}
	return q, nil
}

func (c *Composer) composeApproval(q *event.Ask, a *ir.Approve, sc *Scope) (place string, err error) {
	if q.Prompt, err = c.Text(&a.Prompt, sc); err == nil && len(q.Prompt) > MaxPrompt {
		err = fmt.Errorf("it has %d bytes; the limit is %d", len(q.Prompt), MaxPrompt)
	}
	if err != nil {
		return "prompt", err
	}
	if a.Show != nil {
		if q.Show, err = c.Value(a.Show, sc); err == nil {
			err = request.CheckSize(q.Show)
		}
		if size := len(value.Append(nil, q.Show)); err == nil && size > MaxShown {
			err = fmt.Errorf("it has %d bytes as JSON; the limit is %d. Write it to a file, and show where it is", size, MaxShown)
		}
		if err != nil {
			return "show", err
		}
	}
	if q.Approvers, err = c.approvers(a.Approvers, sc); err != nil {
		return "approvers", err
	}
	if q.Quorum, err = c.Count(a.Quorum, sc, 1, limits.MaxVotes); err != nil {
		return "quorum", err
	}
	if q.Rejections, err = c.Count(a.Rejections, sc, 1, limits.MaxVotes); err != nil || a.Revise == "" {
		return "rejections", err
	}
	most, err := c.Count(a.Revisions, sc, defaultRevisions, maxRevisions)
	if sc.state.Iteration() <= most {
		q.Words = append(q.Words, event.WordRevise)
	}
	return "max_revisions", err
}

// approvers evaluates the names of those who may decide, each once; nil means everybody.
func (c *Composer) approvers(e *ir.Expr, sc *Scope) (names []string, err error) {
	if e == nil {
		return nil, nil
	}
	v, err := c.Value(e, sc)
	if err != nil {
		return nil, err
	}
	if list, is := v.([]any); is && len(list) == 0 || v == nil {
		return nil, nil
	}
	all, err := c.evalNames(e, sc)
	seen := map[string]bool{}
	for _, name := range all {
		if name == "" {
			return nil, fmt.Errorf("a name is empty")
		}
		if !seen[name] {
			names = append(names, name)
		}
		seen[name] = true
	}
	return names, err
}
