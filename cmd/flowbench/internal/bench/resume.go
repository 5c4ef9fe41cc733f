package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/cmd/flowbench/internal/child"
)

// pause is a step that says by one file that all before it have finished, and ends once there is another one, or once the place
// has been left.
func pause(name string, after ...string) string {
	return fmt.Sprintf("  step %q {\n    run = \"touch here_%s; while test -e %s && ! test -e go_%s; do sleep 0.02; done\"\n    depends_on = [\n      %s,\n    ]\n  }\n",
		name, name, file, name, strings.Join(after, ",\n      "))
}

// maxPause is how long a run may take to its next pause.
const maxPause = 20 * time.Minute

// paused waits until a run is at a pause.
func paused(p *child.Process, name string) error {
	limit := time.After(maxPause)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		if _, err := os.Stat(filepath.Join(p.Dir, "here_"+name)); err == nil {
			return nil
		}
		select {
		case <-look.C:
		case <-p.Over:
			return fmt.Errorf("the run ended before its step %q: %s", name, p.Said())
		case <-limit:
			p.Process.Kill()
			return fmt.Errorf("the run did not come to its step %q within %v", name, maxPause)
		}
	}
}

// goOn lets the run of a place leave a pause.
func goOn(dir, name string) error { return os.WriteFile(filepath.Join(dir, "go_"+name), nil, 0o600) }

func resumeSteps(l *lab) ([]figure, error) {
	n := l.n(10_000)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("step.s%d", i)
	}
	r, err := l.resume(workflow(concurrency(slots), wide(n, null), pause("last", names...)))
	return []figure{
		{fmt.Sprintf("resume behind %d finished steps", n), r.wall, "s", atMost(1), fmt.Sprintf("CPU %.2f s, %.0f MiB", r.cpu, r.rss)},
	}, err
}

func resumeEvents(l *lab) ([]figure, error) {
	width, times := l.n(1000), l.n(1000)
	all := forEach("s", width, fmt.Sprintf("%s\n    repeat {\n      max = %d\n    }", null, times))
	r, err := l.resume(workflow(concurrency(slots), all, pause("last", "step.s")))
	what := fmt.Sprintf("resume behind %d events", width*times)
	return []figure{{what, r.wall, "s", atMost(10), fmt.Sprintf("CPU %.2f s", r.cpu)}, {what + ": peak memory", r.rss, "MiB", atMost(500), ""}}, err
}

// resumed is what it took to resume a run, to its end: s, s and MiB.
type resumed struct{ wall, cpu, rss float64 }

// resume makes a run, kills its driver in the step "last", and gives the medians of what it takes to resume it. Each round resumes
// the store as the kill left it.
func (l *lab) resume(text string) (r resumed, err error) {
	dir, err := l.place(text)
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	p, err := child.Start(dir, l.flowrun, "apply", file, "--store", store)
	if err == nil {
		err = paused(p, "last")
	}
	if err == nil {
		_, err = p.Kill(syscall.SIGKILL)
	}
	if err == nil {
		err = goOn(dir, "last")
	}
	if err != nil {
		return r, err
	}
	var walls, cpus, sizes series
	err = l.each(func() error {
		again := filepath.Join(dir, "again")
		defer os.RemoveAll(again)
		if err := os.CopyFS(again, os.DirFS(filepath.Join(dir, store))); err != nil {
			return err
		}
		c, _, err := child.Run(dir, l.flowrun, "resume", "latest", "--store", again)
		walls.add(c.Wall.Seconds())
		cpus.add(c.CPU.Seconds())
		sizes.add(float64(c.RSS) / (1 << 20))
		return err
	})
	return resumed{walls.median(), cpus.median(), sizes.median()}, err
}
