package app

import (
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
)

// setLimits takes the limits of files from the environment and the flags; a flag wins.
func (a *app) setLimits() error {
	given := a.getenv("FLOWRUN_LIMITS")
	for _, words := range append(strings.FieldsFunc(given, func(r rune) bool { return r == ',' }), a.global.Limits...) {
		if err := a.limits.Set(words); err != nil {
			return args.Errorf("%v", err)
		}
	}
	return nil
}
