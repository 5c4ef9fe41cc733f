// Package bench has the rows of the table: what is measured, how, and what is wanted of it.
//
// A row is a name, a sentence, and a function that measures and returns figures; rows.go lists them all. Whatever is
// measured is a process of its own: flowrun as it was built from this module, or a floor (internal/floor). Rounds of the two
// are taken by turns, flowrun, floor, flowrun, floor, so that a busy machine burdens both alike; a ratio is the median of
// the ratios of the rounds, any other figure the median of the rounds.
//
// Enter at [Main].
package bench

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// FloorCommand is the word by which the command calls itself for a floor.
const FloorCommand = "floor"

// Main measures, prints, and returns the exit code: 0, 1 if a figure is short with -check, 2 for wrong usage, 3 if something
// could not be measured.
func Main(args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("flowbench", flag.ContinueOnError)
	f.SetOutput(errs)
	var o options
	names := f.String("rows", "", "only rows whose names begin with one of `NAMES`, with commas between")
	f.IntVar(&o.rounds, "rounds", 3, "how often each side is measured")
	f.Float64Var(&o.scale, "scale", 1, "multiply all sizes; figures are judged at 1 only")
	f.StringVar(&o.dir, "dir", "", "work in a new folder of `DIR`; the disk it is on counts")
	f.StringVar(&o.flowrun, "flowrun", "", "measure this `BINARY` instead of building one")
	asJSON := f.Bool("json", false, "one JSON object a figure")
	check := f.Bool("check", false, "exit with 1 if a figure is short of what is wanted")
	list := f.Bool("list", false, "say what the rows are")
	if err := f.Parse(args); err != nil {
		return 2
	}
	chosen := pick(*names)
	if f.NArg() > 0 || len(chosen) == 0 || o.rounds < 1 || o.scale <= 0 || o.scale > 1 {
		fmt.Fprintln(errs, "flowbench: no such row, or no such size: see flowbench -list and -help")
		return 2
	}
	if *list {
		for _, r := range chosen {
			fmt.Fprintf(out, "%-12s %s\n", r.name, r.what)
		}
		return 0
	}
	l, err := newLab(o)
	if err != nil {
		fmt.Fprintln(errs, "flowbench:", err)
		return 3
	}
	defer l.close()
	return measure(l, chosen, newPrinter(out, *asJSON, o.scale == 1), errs, *check)
}

func measure(l *lab, chosen []row, p *printer, errs io.Writer, check bool) int {
	code := 0
	for _, r := range chosen {
		began := time.Now()
		figures, err := r.run(l)
		for _, f := range figures {
			if !p.print(r, f) && check {
				code = max(code, 1)
			}
		}
		if err != nil {
			fmt.Fprintf(errs, "flowbench: %s: %v\n", r.name, err)
		}
		if err != nil && !errors.Is(err, errSkipped) {
			code = 3
		}
		fmt.Fprintf(errs, "%s took %.0f s\n", r.name, time.Since(began).Seconds())
	}
	return code
}

// pick gives the rows whose names begin with one of those given; all for "".
func pick(names string) (out []row) {
	for _, r := range rows {
		for _, n := range strings.Split(names, ",") {
			if strings.HasPrefix(r.name, n) {
				out = append(out, r)
				break
			}
		}
	}
	return out
}
