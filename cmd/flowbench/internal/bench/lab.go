package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/flowrun/flowrun/cmd/flowbench/internal/child"
	"github.com/flowrun/flowrun/cmd/flowbench/internal/floor"
)

type options struct {
	rounds  int
	scale   float64
	dir     string
	flowrun string
}

// lab is where things are measured: a folder, the two binaries, and how much.
type lab struct {
	options
	self string
	made int
}

func newLab(o options) (l *lab, err error) {
	l = &lab{options: o}
	if l.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if l.dir, err = os.MkdirTemp(o.dir, "flowbench-"); err != nil {
		return nil, err
	}
	if l.dir, err = filepath.Abs(l.dir); err != nil {
		return nil, err
	}
	if l.flowrun != "" {
		l.flowrun, err = filepath.Abs(l.flowrun)
		return l, err
	}
	l.flowrun = filepath.Join(l.dir, "flowrun")
	build := exec.Command("go", "build", "-o", l.flowrun, "github.com/flowrun/flowrun/cmd/flowrun")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		l.close()
		return nil, fmt.Errorf("building flowrun: %w\n%s", err, said)
	}
	return l, nil
}

func (l *lab) close() { os.RemoveAll(l.dir) }

// n is a size of a row, scaled, and at least 10.
func (l *lab) n(size int) int { return max(min(size, 10), int(float64(size)*l.scale)) }

// place is a new folder with a workflow file in it.
func (l *lab) place(text string) (string, error) {
	l.made++
	dir := filepath.Join(l.dir, strconv.Itoa(l.made))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600)
}

// The file and the store of a place.
const file, store = "bench.flow.hcl", "store"

// apply runs a workflow in a place of its own, which it returns, too.
func (l *lab) apply(text string) (child.Cost, string, error) {
	dir, err := l.place(text)
	if err != nil {
		return child.Cost{}, dir, err
	}
	c, _, err := child.Run(dir, l.flowrun, "apply", file, "--store", store)
	return c, dir, err
}

// once runs a workflow and leaves nothing behind.
func (l *lab) once(text string) (child.Cost, error) {
	c, dir, err := l.apply(text)
	os.RemoveAll(dir)
	return c, err
}

// floor runs a floor and leaves nothing behind.
func (l *lab) floor(args ...string) (child.Cost, floor.Report, error) {
	var r floor.Report
	dir, err := l.place("")
	if err != nil {
		return child.Cost{}, r, err
	}
	defer os.RemoveAll(dir)
	c, out, err := child.Run(dir, append([]string{l.self, FloorCommand}, args...)...)
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	return c, r, err
}

// each calls f once a round.
func (l *lab) each(f func() error) error {
	for range l.rounds {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// series are the values of one thing, one of each round.
type series []float64

func (s *series) add(v float64) { *s = append(*s, v) }

// median is 0 for a series without values.
func (s series) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
