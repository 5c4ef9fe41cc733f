package executor

import (
	"context"

	"github.com/flowrun/flowrun/runner/event"
)

type noteKey struct{}

// WithNotes gives an attempt's context who hears what its agent wants to be remembered while it works. He must not block for
// long: the agent's output waits.
func WithNotes(ctx context.Context, hear func(event.Learned)) context.Context {
	return context.WithValue(ctx, noteKey{}, hear)
}

// Note hands on what an agent wants to be remembered, masked; to nobody if nobody listens.
func Note(ctx context.Context, e event.Learned) {
	if hear, _ := ctx.Value(noteKey{}).(func(event.Learned)); hear != nil {
		hear(HideLearned(Mask(ctx), e))
	}
}
