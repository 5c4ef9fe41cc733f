package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/cmd/flowbench/internal/child"
)

// TestSmall measures every row at a size at which its figures mean nothing: each gives figures, and nothing stays behind.
func TestSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two binaries and runs some thousand programs")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "flowbench")
	if said, err := exec.Command("go", "build", "-o", bin, "github.com/flowrun/flowrun/cmd/flowbench").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	out, err := exec.Command(bin, "-scale", "0.002", "-rounds", "1", "-json", "-check", "-dir", dir).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	have := map[string]int{}
	for line := range bytes.Lines(out) {
		var f struct{ Row, What, Verdict string }
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		if have[f.Row]++; f.Verdict != "" {
			t.Errorf("%s is judged at a size at which it means nothing", f.What)
		}
	}
	for _, r := range rows {
		if have[r.name] == 0 && (r.name != "soak" || runtime.GOOS == "linux") {
			t.Errorf("row %q gave no figure", r.name)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("it left %v", left)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
	}{{"-rows nothing", 2}, {"-scale 2", 2}, {"-rounds 0", 2}, {"word", 2}, {"-list -rows null,wide", 0}, {"-flowrun /nowhere -rows version", 3}} {
		var out, errs bytes.Buffer
		if code := Main(strings.Fields(c.args), &out, &errs); code != c.code {
			t.Errorf("%s: exit code %d: %s", c.args, code, &errs)
		}
	}
}

func TestVerdict(t *testing.T) {
	var out bytes.Buffer
	p := newPrinter(&out, false, true)
	for _, c := range []struct {
		f    figure
		ok   bool
		says string
	}{
		{figure{"at the bound", 1.1, "x", atMost(1.1), ""}, true, "pass"},
		{figure{"over it", 1.11, "x", atMost(1.1), ""}, false, "short"},
		{figure{"under it", 0.39, "x", atLeast(0.4), ""}, false, "short"},
		{figure{"at least it", 0.4, "x", atLeast(0.4), ""}, true, "pass"},
		{figure{"told only", 7, "x", bound{}, ""}, true, ""},
	} {
		out.Reset()
		if ok := p.print(row{name: "r"}, c.f); ok != c.ok || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: %v, %s", c.f.what, ok, &out)
		}
	}
}

func TestMedianAndSlope(t *testing.T) {
	if m := (series{9, 1, 4}).median(); m != 4 {
		t.Errorf("the median of three is %v", m)
	}
	if m := (series{9, 1, 4, 2}).median(); m != 3 {
		t.Errorf("the median of four is %v", m)
	}
	held := []holding{{rss: 10e6}, {rss: 12e6}, {rss: 14e6}}
	if s := slope(held, 20_000); s < 0.999 || s > 1.001 {
		t.Errorf("2 MB in 20,000 steps are %v MB per 10,000", s)
	}
}

// TestCost burns a known amount of CPU in a grandchild: it counts.
func TestCost(t *testing.T) {
	c, _, err := child.Run(t.TempDir(), "sh", "-c", "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; exit 0")
	if err != nil {
		t.Fatal(err)
	}
	if c.CPU <= 0 || c.CPU.Seconds() < c.Wall.Seconds()/20 || c.RSS < 100<<10 {
		t.Errorf("%+v", c)
	}
	if _, _, err := child.Run(t.TempDir(), "sh", "-c", "echo why >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "why") {
		t.Errorf("a failure is told as %v", err)
	}
}
