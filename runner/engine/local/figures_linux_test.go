package local

import "testing"

// The figures of /proc are read as the kernel documents them.
func TestFiguresAreRead(t *testing.T) {
	busy, total := parseStat("cpu  100 20 30 800 40 5 3 2 7 1")
	if busy != 160 || total != 1000 {
		t.Errorf("busy %d of %d, want 160 of 1000", busy, total)
	}
	for _, line := range []string{"", "cpu", "cpu0 1 2 3 4 5 6", "cpu  1 2 x 4 5 6"} {
		if busy, total := parseStat(line); busy != 0 || total != 0 {
			t.Errorf("%q: busy %d of %d", line, busy, total)
		}
	}
	if m := parseMemory("MemTotal:       1000 kB\nMemFree:   100 kB\nMemAvailable:    250 kB\n"); m == nil || *m != 75 {
		t.Errorf("memory %v, want 75", m)
	}
	if m := parseMemory("MemFree: 100 kB\n"); m != nil {
		t.Errorf("memory %v, want none", *m)
	}
	look := newLook()
	if f := look(); f.Memory == nil || *f.Memory <= 0 || *f.Memory > 100 || f.CPU != nil && (*f.CPU < 0 || *f.CPU > 100) {
		t.Errorf("this machine: %+v", f)
	}
}

// A run is told when a figure has moved by 5 points, or when it is known for the first time or not any more.
func TestFiguresThatMoved(t *testing.T) {
	for _, c := range []struct {
		before, after any
		want          bool
	}{{50.0, 54.9, false}, {50.0, 55.0, true}, {50.0, 45.0, true}, {nil, nil, false}, {nil, 3.0, true}, {3.0, nil, true}} {
		if moved(c.before, c.after) != c.want {
			t.Errorf("from %v to %v: %v, want %v", c.before, c.after, !c.want, c.want)
		}
	}
}
