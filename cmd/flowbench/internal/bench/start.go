package bench

import (
	"os"

	"github.com/flowrun/flowrun/cmd/flowbench/internal/child"
)

// startsARound is how often a short command is run in a round: one run is shorter than the clock of CPU time is exact.
const startsARound = 10

func startVersion(l *lab) ([]figure, error) {
	cpu, _, err := l.starts("version")
	return []figure{{"version, CPU", cpu, "ms", atMost(20), ""}}, err
}

func startValidate(l *lab) ([]figure, error) {
	cpu, wall, err := l.starts("validate", file)
	return []figure{{"validate of 10 steps, CPU", cpu, "ms", atMost(20), ""}, {"validate of 10 steps, wall", wall, "ms", atMost(20), ""}}, err
}

// starts gives the medians over rounds of the mean of a command's CPU and wall time, in ms.
func (l *lab) starts(args ...string) (cpu, wall float64, err error) {
	dir, err := l.place(workflow(wide(10, nothing)))
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	var cpus, walls series
	err = l.each(func() error {
		var sum child.Cost
		for range startsARound {
			c, _, err := child.Run(dir, append([]string{l.flowrun}, args...)...)
			if err != nil {
				return err
			}
			sum.CPU, sum.Wall = sum.CPU+c.CPU, sum.Wall+c.Wall
		}
		cpus.add(sum.CPU.Seconds() * 1000 / startsARound)
		walls.add(sum.Wall.Seconds() * 1000 / startsARound)
		return nil
	})
	return cpus.median(), walls.median(), err
}
