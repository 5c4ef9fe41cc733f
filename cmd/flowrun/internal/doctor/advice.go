package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/flowrun/flowrun/memory/private"
	memories "github.com/flowrun/flowrun/memory/store"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/journal"
)

// OtherStore is the advice about a store that this user may not read or write.
const OtherStore = "Run flowrun as the owner of the store, change its permissions, or name another store with --store or FLOWRUN_STORE."

// adviseStore returns advice about a store that does not open. A store that this user may not read may be undamaged.
func adviseStore(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return OtherStore
	}
	return beginAnew
}

// foreignStore is the advice about a database that another program made.
const foreignStore = "No command in it was run. If the store came from elsewhere, name one of your own with --store or FLOWRUN_STORE. If it is yours, restore a backup."

// describeFix says how to fix a problem of a store's folder.
func describeFix(p *private.Problem) string {
	switch p.OtherStore {
	case private.IfForeign:
		return "If it is not yours, use another: --store DIR. If it is: " + p.Fix
	case private.OrOtherUser:
		return p.Fix + ", or name a store of your own with --store or FLOWRUN_STORE."
	}
	return p.Fix
}

// describeRefused explains why a store's folder is refused, and what to type.
func describeRefused(r *private.Refused) string {
	text := fmt.Sprintf("the store %s is refused: %s", r.Dir, r.Problems[0].What)
	if more := len(r.Problems) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more: see flowrun doctor)", more)
	}
	return text + "\n" + describeFix(&r.Problems[0])
}

// WayOut adds advice to the errors of a full disk, a foreign or older store and a damaged journal,
// unless the error has better advice.
func WayOut(err error) error {
	var refused *private.Refused
	var damaged *engine.Damaged
	if errors.As(err, &refused) {
		return errors.New(strings.Replace(err.Error(), refused.Error(), describeRefused(refused), 1))
	}
	if errors.As(err, &damaged) {
		return errors.New(strings.Replace(err.Error(), damaged.Error(), damaged.Error()+"; flowrun doctor says how to continue", 1))
	}
	switch {
	case strings.Contains(err.Error(), "\n"):
	case errors.Is(err, engine.ErrFull):
		return fmt.Errorf("%w\nFree some space. As soon as a little is free, flowrun runs prune removes ended runs and their logs.", err)
	case errors.As(err, new(*engine.OlderStore)):
		return fmt.Errorf("%w\nThe next flowrun apply or flowrun resume does; resume does not change a run that has ended.", err)
	case errors.Is(err, engine.ErrForeign), errors.Is(err, memories.ErrForeign):
		return fmt.Errorf("%w\n%s", err, foreignStore)
	case errors.Is(err, journal.ErrBroken):
		return fmt.Errorf("%w\nOther runs can continue. flowrun events prints the readable part of a journal; flowrun doctor reports other damage.", err)
	}
	return err
}
