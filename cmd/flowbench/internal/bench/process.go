package bench

import (
	"fmt"
	"strconv"

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

func processChain(l *lab) ([]figure, error) {
	n := l.n(500)
	ratio, ours, theirs, err := l.beside(n, 1, workflow(chain(n, nothing)), func(c child.Cost) float64 { return c.Wall.Seconds() })
	return []figure{{fmt.Sprintf("chain of %d: wall beside bare os/exec", n), ratio, "x", atMost(1.9),
		fmt.Sprintf("%.3f ms a step, bare %.3f ms", ours*1000/float64(n), theirs*1000/float64(n))}}, err
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
