// Package floor has what a figure is compared with: the least that anybody would have to do for the same work, in a process
// of its own, so that both sides are measured alike.
//
// exec starts programs and waits for them, with nothing around it. sqlite writes rows with the driver, the settings and the
// sizes of flowrun's journal. kv writes the rows of operations on what runs share. scan holds vectors against queries. None knows anything of flowrun but the place of a journal's bytes
// in its store.
//
// Enter at [Main].
package floor

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"time"
)

// Report is the line of JSON that a floor prints: how long the work itself took, without the start of the process.
type Report struct {
	Wall     time.Duration `json:"wall_ns"`
	RowBytes int           `json:"row_bytes,omitempty"`
	Group    int           `json:"group,omitempty"` // rows, or operations, of a transaction
}

// Main runs the floor that args name, and returns the exit code:
//
//	exec   -n N -parallel P              # /bin/true, N times
//	sqlite -n N -group G -like STORE     # N rows in a new database here, G a commit, as large as events in STORE are
//	kv     -n N -like STORE              # N operations on what runs share, as those of the run in STORE
//	scan   -n N -dim D -queries Q        # Q queries against N vectors of D numbers
func Main(args []string, out, errs io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(errs, "flowbench: which floor?")
		return 2
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.SetOutput(errs)
	n := f.Int("n", 1, "how often")
	parallel := f.Int("parallel", 1, "how many at once")
	group := f.Int("group", 1, "how many a commit")
	dim := f.Int("dim", 1, "how long a vector is")
	queries := f.Int("queries", 1, "how many queries")
	like := f.String("like", "", "a store to take the size of a row from")
	if err := f.Parse(args[1:]); err != nil {
		return 2
	}
	var r Report
	var err error
	switch args[0] {
	case "exec":
		r, err = programs(*n, *parallel)
	case "sqlite":
		r, err = rows(*n, *group, *like)
	case "kv":
		r, err = operations(*n, *like)
	case "scan":
		r = scan(*n, *dim, *queries)
	default:
		err = fmt.Errorf("there is no floor %q", args[0])
	}
	if err != nil {
		fmt.Fprintf(errs, "flowbench: floor %s: %v\n", args[0], err)
		return 1
	}
	if err := json.NewEncoder(out).Encode(r); err != nil {
		return 1
	}
	return 0
}
