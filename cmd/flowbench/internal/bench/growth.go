package bench

import (
	"fmt"
)

// growth is what a step costs in a small run and in a large one.
type growth struct {
	what         string
	small, large int
	ratio        float64 // of the CPU a step
	cpuSmall     float64 // µs a step
	cpuLarge     float64
	rss          float64 // MiB, of the large run
}

// growth measures runs of two sizes by turns: as many small ones as have about as many steps as a large one, up to 10.
func (l *lab) growth(what string, small, large int, text func(n int) string) (growth, error) {
	g := growth{what: what, small: small, large: large}
	var ratios, smalls, larges, rss series
	texts := [2]string{text(small), text(large)}
	repeat := min(max(large/small, 1), 10)
	err := l.each(func() error {
		sum := 0.0
		for range repeat {
			c, err := l.once(texts[0])
			if err != nil {
				return err
			}
			sum += c.CPU.Seconds() * 1e6
		}
		c, err := l.once(texts[1])
		if err != nil {
			return err
		}
		a, b := sum/float64(repeat*small), c.CPU.Seconds()*1e6/float64(large)
		smalls.add(a)
		larges.add(b)
		ratios.add(b / a)
		rss.add(float64(c.RSS) / (1 << 20))
		return nil
	})
	g.ratio, g.cpuSmall, g.cpuLarge, g.rss = ratios.median(), smalls.median(), larges.median(), rss.median()
	return g, err
}

// maxGrowth is how much more CPU a step may cost in the large run.
const maxGrowth = 1.1

func (g growth) figures(rss bound) []figure {
	return []figure{
		{fmt.Sprintf("%s: CPU a step at %d beside %d", g.what, g.large, g.small), g.ratio, "x", atMost(maxGrowth),
			fmt.Sprintf("%.1f µs a step, at %d %.1f µs", g.cpuLarge, g.small, g.cpuSmall)},
		{fmt.Sprintf("%s: peak memory at %d", g.what, g.large), g.rss, "MiB", rss, ""},
	}
}

// many is the memory that 100,000 steps may take, in MiB.
const many = 512

func eachNull(l *lab) ([]figure, error) {
	g, err := l.growth("for_each, null", l.n(10_000), l.n(100_000), func(n int) string {
		return workflow(concurrency(slots), forEach("s", n, null+"\n    with = each.value"))
	})
	fs := g.figures(atMost(many))
	return append(fs, figure{fmt.Sprintf("for_each, null: CPU a step at %d", g.large), g.cpuLarge, "µs", atMost(maxNullCPU), ""}), err
}

func values(l *lab) ([]figure, error) {
	g, err := l.growth("for_each, value", l.n(10_000), l.n(100_000), func(n int) string {
		return workflow(forEach("s", n, "value = each.value"))
	})
	if err != nil {
		return nil, err
	}
	blocks, err := l.growth("blocks, value", l.n(10_000), l.n(100_000), func(n int) string { return workflow(wide(n, number1)) })
	return append(g.figures(atMost(many)), blocks.figures(atMost(many))...), err
}
