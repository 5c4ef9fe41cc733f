package durable

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// own are the names that flowrun gives to what lies in a store's folder, and ownBeginnings begin such names.
var (
	own = []string{"store", "store.new", "setup.lock", "drivers", "marks", "snapshots", "reserve", ".gitignore", "logs", "artifacts", "env", "backups",
		"learning", "worker", "worktrees"}
	ownBeginnings = []string{"flowrun.db", "memory.", "vectors-"}
)

// RefuseForeign refuses a folder that holds other things than flowrun's, so that no store is made there. A folder that holds one of the files by
// which a store is known has one already. The error wraps refused.
func RefuseForeign(dir string, refused error, known ...string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	foreign := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case slices.Contains(known, name):
			return nil
		case !slices.Contains(own, name) && !slices.ContainsFunc(ownBeginnings, func(begin string) bool { return strings.HasPrefix(name, begin) }):
			foreign = cmp.Or(foreign, name)
		}
	}
	if err == nil && foreign != "" {
		err = fmt.Errorf("%w: the folder holds %s; name an empty folder, or one that is not there yet", refused, foreign)
	}
	return err
}
