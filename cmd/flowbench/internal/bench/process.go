package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/cmd/flowbench/internal/child"
)

const processesAtOnce = 8

func processes(n int) string { return workflow(concurrency(processesAtOnce), wide(n, nothing)) }

func processWide(l *lab) ([]figure, error) {
	n := l.n(1000)
	ratio, ours, theirs, err := l.beside(n, processesAtOnce, processes(n), func(c child.Cost) float64 { return c.CPU.Seconds() })
	return []figure{{fmt.Sprintf("wide %d, parallel %d: CPU beside bare os/exec", n, processesAtOnce), ratio, "x", atMost(1.3),
		fmt.Sprintf("%.3f ms a step, bare %.3f ms", ours*1000/float64(n), theirs*1000/float64(n))}}, err
}

// processChain has two floors: the bare loop, which keeps nothing, and that with a commit of the same SQLite after each
// program, which is the least for who does not begin a step before the one before is safe. On a slow or busy disk the first
// says little of flowrun.
func processChain(l *lab) ([]figure, error) {
	n := l.n(500)
	text, count := workflow(chain(n, nothing)), strconv.Itoa(n)
	var ratios, safe, our, bare, commits series
	err := l.each(func() error {
		a, dir, err := l.apply(text)
		defer os.RemoveAll(dir)
		if err != nil {
			return err
		}
		b, _, err := l.floor("exec", "-n", count)
		if err != nil {
			return err
		}
		_, c, err := l.floor("sqlite", "-n", count, "-like", filepath.Join(dir, store))
		ms := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(n) }
		our.add(ms(a.Wall))
		bare.add(ms(b.Wall))
		commits.add(ms(c.Wall))
		ratios.add(a.Wall.Seconds() / b.Wall.Seconds())
		safe.add(a.Wall.Seconds() / (b.Wall + c.Wall).Seconds())
		return err
	})
	return []figure{
		{fmt.Sprintf("chain of %d: wall beside bare os/exec", n), ratios.median(), "x", atMost(1.9),
			fmt.Sprintf("%.3f ms a step, bare %.3f ms", our.median(), bare.median())},
		{fmt.Sprintf("chain of %d: wall beside bare os/exec and a commit each", n), safe.median(), "x", bound{},
			fmt.Sprintf("a commit of SQLite %.3f ms", commits.median())},
	}, err
}

// beside measures a workflow and as many bare processes by turns, and gives the median ratio and both medians of what counts.
func (l *lab) beside(n, parallel int, text string, what func(child.Cost) float64) (ratio, ours, theirs float64, err error) {
	var ratios, our, their series
	err = l.each(func() error {
		a, err := l.once(text)
		if err != nil {
			return err
		}
		b, _, err := l.floor("exec", "-n", strconv.Itoa(n), "-parallel", strconv.Itoa(parallel))
		our.add(what(a))
		their.add(what(b))
		ratios.add(what(a) / what(b))
		return err
	})
	return ratios.median(), our.median(), their.median(), err
}

func processGrowth(l *lab) ([]figure, error) {
	f, err := l.growth("process steps", l.n(1000), l.n(10_000), processes)
	return f.figures(atMost(64)), err
}
