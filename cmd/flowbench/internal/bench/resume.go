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
	wall, rss, err := l.resume(workflow(concurrency(slots), wide(n, null), pause("last", names...)))
	return []figure{
		{fmt.Sprintf("resume behind %d finished steps", n), wall, "s", atMost(1), fmt.Sprintf("%.0f MiB", rss)},
	}, err
}

func resumeEvents(l *lab) ([]figure, error) {
	width, times := l.n(1000), l.n(1000)
	all := forEach("s", width, fmt.Sprintf("%s\n    repeat {\n      max = %d\n    }", null, times))
	wall, rss, err := l.resume(workflow(concurrency(slots), all, pause("last", "step.s")))
	what := fmt.Sprintf("resume behind %d events", width*times)
	return []figure{{what, wall, "s", atMost(10), ""}, {what + ": peak memory", rss, "MiB", atMost(500), ""}}, err
}

// resume makes a run, kills its driver in the step "last", and gives the medians of what it takes to resume it, to its end:
// wall time in s and memory in MiB. Each round resumes the store as the kill left it.
func (l *lab) resume(text string) (wall, rss float64, err error) {
	dir, err := l.place(text)
	if err != nil {
		return 0, 0, err
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
		return 0, 0, err
	}
	var walls, sizes series
	err = l.each(func() error {
		again := filepath.Join(dir, "again")
		defer os.RemoveAll(again)
		if err := os.CopyFS(again, os.DirFS(filepath.Join(dir, store))); err != nil {
			return err
		}
		c, _, err := child.Run(dir, l.flowrun, "resume", "latest", "--store", again)
		walls.add(c.Wall.Seconds())
		sizes.add(float64(c.RSS) / (1 << 20))
		return err
	})
	return walls.median(), sizes.median(), err
}
