package memory_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

// consolidateIn is the environment variable that makes this test a process that consolidates a store until it is killed, and
// killAtOnce the one that makes that process kill itself when it has begun.
const (
	consolidateIn = "FLOWRUN_TEST_MEMORY_CONSOLIDATE"
	killAtOnce    = "FLOWRUN_TEST_MEMORY_KILL"
)

// TestConsolidationSurvivesKills kills processes that consolidate, at moments spread over the time that it takes. What they leave is
// nothing or all of it, and the next one comes to what an undisturbed one does.
func TestConsolidationSurvivesKills(t *testing.T) {
	steady(t)
	ctx := context.Background()
	o := memory.Options{Embedder: wide{}, WordVectors: true}
	if dir := os.Getenv(consolidateIn); dir != "" {
		var begun atomic.Bool
		o.Now = func() time.Time {
			if begun.Load() && os.Getenv(killAtOnce) != "" {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return time.Now()
		}
		m := open(t, dir, o)
		begun.Store(true)
		os.Stdout.WriteString("begun\n")
		if _, err := m.Consolidate(ctx, "sam"); err != nil {
			t.Fatal(err)
		}
		return
	}
	var es []entry.Entry
	for _, s := range madeUp(150) {
		es = append(es, s.entries...)
	}
	full := t.TempDir()
	m := open(t, full, o)
	add(t, m, es...)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	work := func() (dir string) {
		dir = t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(full)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	var want []string
	var takes time.Duration
	half, whole, none := 0, 0, 0
	for n := range 9 {
		dir := work()
		began := time.Now()
		if n > 0 {
			killed(t, dir, n == 1, takes*time.Duration(n-1)/10)
		}
		m := open(t, dir, o)
		left := patternsOf(t, m)
		if _, err := m.Consolidate(ctx, "sam"); err != nil {
			t.Fatal(err)
		}
		got := patternsOf(t, m)
		switch {
		case n == 0:
			want, takes = got, time.Since(began)
		case !slices.Equal(got, want):
			t.Errorf("after a kill there are %d patterns, not the %d of an undisturbed one", len(got), len(want))
		case len(left) == 0:
			none++
		case len(left) == len(want):
			whole++
		default:
			half++
		}
	}
	t.Logf("of 8 processes %d were killed before their %d patterns were durable, and %d after", none, len(want), whole)
	if half > 0 || none == 0 || len(want) < 20 {
		t.Errorf("%d left half of %d patterns behind, and %d none", half, len(want), none)
	}
}

// killed has a process consolidate, and kills it so long after it has begun; or it kills itself at once.
func killed(t *testing.T, dir string, atOnce bool, after time.Duration) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestConsolidationSurvivesKills$")
	c.Env = append(os.Environ(), consolidateIn+"="+dir, "TMPDIR="+filepath.Dir(dir))
	if atOnce {
		c.Env = append(c.Env, killAtOnce+"=1")
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		t.Error("it said nothing")
	}
	if !atOnce {
		time.Sleep(after)
		_ = c.Process.Kill() // it may have ended
	}
	_ = c.Wait()
}

func patternsOf(t *testing.T, m *memory.Memory) (ids []string) {
	t.Helper()
	items, err := m.List(context.Background(), memory.Filter{Viewer: everything, Type: entry.Pattern})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		ids = append(ids, i.ID)
	}
	return ids
}
