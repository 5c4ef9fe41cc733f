package args

import (
	"slices"
	"strings"
	"time"
)

// Backup is what the command backup takes.
type Backup struct {
	To   string // a folder; "": one in the store, named by the time
	Keep string // an age; "": all backups stay
	Age  time.Duration
	JSON bool
}

// Check reads the age.
func (b *Backup) Check() (err error) {
	if b.Keep == "" {
		return nil
	}
	age, ok := readAge(b.Keep)
	if !ok {
		return Errorf("--keep %q is not an age such as 7d or 12h", b.Keep)
	}
	b.Age = age
	return nil
}

// RestoreParts are the parts of a store that restore can take.
var RestoreParts = []string{"kv", "memory", "runs"}

// Restore is what the command restore takes.
type Restore struct {
	From string   // a folder, or the name of a backup in the store; "": the newest
	Only []string // RestoreParts; none: all of them
	JSON bool
}

// Check reads the parts.
func (r *Restore) Check() error {
	for _, part := range r.Only {
		if !slices.Contains(RestoreParts, part) {
			return Errorf("--only %q is not one of %s", part, strings.Join(RestoreParts, ", "))
		}
	}
	return nil
}

// Takes reports whether a part is restored.
func (r *Restore) Takes(part string) bool { return len(r.Only) == 0 || slices.Contains(r.Only, part) }
