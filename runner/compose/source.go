package compose

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// Source makes an attempt one that asks a source of a loop. Settings that read secrets are left to the host. The error names the setting.
func (c *Composer) Source(a *event.Attempt, s *ir.Source, r *event.SourceRequest) error {
	a.Kind, a.Source = event.SourceAttempt, r
	r.Source, r.Kind = s.Name, s.Kind
	for i := range s.Settings {
		set := &s.Settings[i]
		what := fmt.Sprintf("%s of source %q", set.Name, s.Name)
		if err := c.composePart(a, request.Source+set.Name, what, &set.Value, c.Constants()); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}
