package executor

import (
	"context"
	"slices"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/mask"
)

type maskKey struct{}

// WithMask gives an attempt's context what must not be seen of its answer. Executors mask streams as they come, before they cut,
// parse or keep anything of them: half a secret is not found any more.
func WithMask(ctx context.Context, m *mask.Masker) context.Context {
	return context.WithValue(ctx, maskKey{}, m)
}

// Mask is what WithMask gave; nil, which masks nothing, if nobody did.
func Mask(ctx context.Context) *mask.Masker {
	m, _ := ctx.Value(maskKey{}).(*mask.Masker)
	return m
}

// Hide masks an answer: all that a person may read of it, and its output.
func Hide(m *mask.Masker, ans *event.AttemptFinished) {
	if m == nil {
		return
	}
	ans.Stdout, ans.Stderr, ans.Output = m.Text(ans.Stdout), m.Text(ans.Stderr), m.Value(ans.Output)
	ans.Partial = m.Value(ans.Partial)
	if ans.Error != nil {
		e := *ans.Error
		e.Message = m.Message(e.Message) // it may quote what was decoded, and cut it
		ans.Error = &e
	}
	ans.Warning = m.Message(ans.Warning)
	for i := range ans.Learned {
		ans.Learned[i] = HideLearned(m, ans.Learned[i])
	}
}

// HideLearned masks what an agent wants to be remembered.
func HideLearned(m *mask.Masker, e event.Learned) event.Learned {
	for _, text := range []*string{&e.Text, &e.Lesson, &e.Context, &e.Observation} {
		*text = m.Text(*text)
	}
	e.Tags = slices.Clone(e.Tags)
	for i := range e.Tags {
		e.Tags[i] = m.Text(e.Tags[i])
	}
	return e
}
