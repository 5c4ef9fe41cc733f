package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/flowrun/flowrun/cmd/flowbench/internal/child"
)

// A soak is one process that drives one run after the other: the children of a run that calls them. Ten times in between it
// pauses, so that what it holds can be looked at while it does nothing.
const (
	soakSteps  = 100_000
	soakPauses = 10
	soakRuns   = 10 // between two pauses
)

// A step adds at most so many bytes, and the whole soak so many descriptors and goroutines.
const (
	maxSlope = 1.0 // MB per 10,000 steps
	maxDrift = 5
)

// errSkipped is for a row that cannot be measured on this system.
var errSkipped = errors.New("skipped: it needs /proc")

func soak(l *lab) ([]figure, error) {
	if runtime.GOOS != "linux" {
		return nil, errSkipped
	}
	each := max(l.n(soakSteps)/soakPauses/soakRuns, 1)
	text := soakFile(each)
	first, err := l.soakTo(text, 1)
	if err != nil {
		return nil, err
	}
	held, err := l.soakTo(text, soakPauses)
	if err != nil {
		return nil, err
	}
	begin, end := held[0], held[len(held)-1]
	steps := each * soakRuns * soakPauses
	return []figure{
		{fmt.Sprintf("soak of %d steps: resident memory per 10,000", steps), slope(held, each*soakRuns), "MB", atMost(maxSlope),
			fmt.Sprintf("%.1f MB after the first tenth, %.1f MB at the end", begin.rss/1e6, end.rss/1e6)},
		{"soak: descriptors, end beside the first tenth", drift(begin.files, end.files), "", atMost(maxDrift),
			fmt.Sprintf("%d, then %d", begin.files, end.files)},
		{"soak: goroutines, end beside the first tenth", drift(first[0].goroutines, end.goroutines), "", atMost(maxDrift),
			fmt.Sprintf("%d, then %d", first[0].goroutines, end.goroutines)},
	}, nil
}

// drift is how far two counts lie apart.
func drift(a, b int) float64 { return float64(max(a-b, b-a)) }

// soakFile is a workflow that calls another one, of so many process steps, again and again.
func soakFile(each int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "workflow \"batch\" {\n  max_concurrency = %d\n%s}\n\nworkflow \"w\" {\n  default = true\n", processesAtOnce, forEach("s", each, nothing))
	for i := range soakPauses {
		fmt.Fprintf(&b, "  step \"part%d\" {\n    for_each = range(%d)\n    max_concurrency = 1\n    call = workflow.batch\n", i, soakRuns)
		if i > 0 {
			fmt.Fprintf(&b, "    depends_on = [step.pause%d]\n", i-1)
		}
		fmt.Fprintf(&b, "  }\n%s", pause(fmt.Sprintf("pause%d", i), fmt.Sprintf("step.part%d", i)))
	}
	return b.String() + "}\n"
}

// holding is what a process holds at a pause.
type holding struct {
	rss        float64 // bytes
	files      int
	goroutines int // at the last pause only: to count them ends the process
}

// soakTo runs a soak as far as a pause and returns what it held at each.
func (l *lab) soakTo(text string, pauses int) (held []holding, err error) {
	dir, err := l.place(text)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	p, err := child.Start(dir, l.flowrun, "apply", file, "--store", store)
	if err != nil {
		return nil, err
	}
	for i := range pauses {
		name := fmt.Sprintf("pause%d", i)
		if err := paused(p, name); err != nil {
			return nil, err
		}
		h, err := look(p.Process.Pid)
		if err == nil && i < pauses-1 {
			err = goOn(dir, name)
		}
		if err != nil {
			p.Kill(syscall.SIGKILL)
			return nil, err
		}
		held = append(held, h)
	}
	// Go's runtime answers this signal with the stacks of all goroutines.
	if _, err := p.Kill(syscall.SIGQUIT); err != nil {
		return nil, err
	}
	held[pauses-1].goroutines = bytes.Count(p.Said(), []byte("\ngoroutine "))
	return held, nil
}

func look(pid int) (h holding, err error) {
	dir := filepath.Join("/proc", fmt.Sprint(pid))
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return h, err
	}
	statm, err := os.ReadFile(filepath.Join(dir, "statm"))
	if err != nil {
		return h, err
	}
	var size, resident int
	if _, err := fmt.Sscan(string(statm), &size, &resident); err != nil {
		return h, err
	}
	return holding{rss: float64(resident * os.Getpagesize()), files: len(files)}, nil
}

// slope is the growth of memory in MB per 10,000 steps, by least squares over the pauses, between which lie so many steps.
func slope(held []holding, steps int) float64 {
	n := float64(len(held))
	var sx, sy, sxx, sxy float64
	for i, h := range held {
		x, y := float64((i+1)*steps)/10_000, h.rss/1e6
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
