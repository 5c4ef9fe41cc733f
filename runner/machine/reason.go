package machine

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
)

// wording is a reason in its two forms: as runs of behaviour number 1 say it, and since [ir.PlainReasons]. Commands can contain a
// reason, so a run keeps the form with which it began. Both forms take the same values.
type wording struct{ first, plain string }

var (
	timedOut    = wording{"%s did not end within %s", "%s exceeded its timeout of %s"}
	undecided   = wording{"nobody decided within %s", "no decision within %s"}
	notDone     = wording{"nobody did it within %s", "it was not done within %s"}
	silent      = wording{"it fell silent", "lost contact with it"}
	silentAgain = wording{"it fell silent, and starts again (%d of %d)", "lost contact with it; starting it again (%d of %d)"}
)

// reason returns a reason as the run's behaviour number words it.
func (m *Machine) reason(w wording, values ...any) string {
	if m.behaviour[ir.PlainReasons] {
		return fmt.Sprintf(w.plain, values...)
	}
	return fmt.Sprintf(w.first, values...)
}
