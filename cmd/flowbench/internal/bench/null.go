package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// maxNullCPU is how many µs of CPU a null attempt may cost, with all of the process, where commits are shared.
const maxNullCPU = 25

// nullAttempts measures the whole process of flowrun, and of the floor the writing alone.
func nullAttempts(l *lab) ([]figure, error) {
	fan, err := l.durable("null, fan-out", l.n(50_000), rowsOf(slots), atLeast(0.4), atMost(maxNullCPU), workflow(concurrency(slots), forEach("s", l.n(50_000), null)))
	if err != nil {
		return fan, err
	}
	n := l.n(5_000)
	one, err := l.durable("null, chain", n, rowsOf(1), atLeast(0.7), bound{}, workflow(chain(n, null)))
	return append(fan, one...), err
}

// rowsOf is the floor of one row for each attempt, so many of them a transaction.
func rowsOf(group int) []string { return []string{"sqlite", "-group", strconv.Itoa(group)} }

// durable compares n attempts with what the floor writes for as many.
func (l *lab) durable(what string, n int, least []string, rate, cost bound, text string) ([]figure, error) {
	var share, ours, theirs, cpu, floorCPU, group series
	bytes := 0
	err := l.each(func() error {
		a, dir, err := l.apply(text)
		defer os.RemoveAll(dir)
		if err != nil {
			return err
		}
		c, b, err := l.floor(append(slices.Clone(least), "-n", strconv.Itoa(n), "-like", filepath.Join(dir, store))...)
		if err != nil {
			return err
		}
		ours.add(float64(n) / a.Wall.Seconds())
		theirs.add(float64(n) / b.Wall.Seconds())
		share.add(b.Wall.Seconds() / a.Wall.Seconds())
		cpu.add(a.CPU.Seconds() * 1e6 / float64(n))
		floorCPU.add(c.CPU.Seconds() * 1e6 / float64(n))
		group.add(float64(b.Group))
		bytes = b.RowBytes
		return nil
	})
	return []figure{
		{fmt.Sprintf("%s of %d: share of SQLite's rate", what, n), share.median(), "x", rate,
			fmt.Sprintf("%.0f/s, SQLite %.0f/s, groups of %.0f, %d bytes each", ours.median(), theirs.median(), group.median(), bytes)},
		{fmt.Sprintf("%s of %d: CPU a step", what, n), cpu.median(), "µs", cost,
			fmt.Sprintf("SQLite %.1f µs", floorCPU.median())},
	}, err
}
