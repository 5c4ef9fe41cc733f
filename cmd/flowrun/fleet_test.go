package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The five workflows of examples/fleet run with real processes over one store: each task is done by one worker, and the monitor reads what the
// others have left.
func TestFleet(t *testing.T) {
	binary := linked(t)
	dir := copied(t, "fleet")
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"apply", ".", "monitor"}, "active_workers = 0\nprogress_percent = 0\nqueue_depth = 0"},
		{[]string{"apply", ".", "orchestrator"}, "progress_percent = 100"},
		{[]string{"apply", ".", "monitor"}, "active_workers = 0\nprogress_percent = 100\nqueue_depth = 0"},
		{[]string{"kv", "list", "--namespace", "tasks"}, "claimed.ship"},
		{[]string{"apply", ".", "worker"}, "succeeded"},
		{[]string{"kv", "get", "completed", "--namespace", "main"}, "6"}, // nothing was left for that worker
		{[]string{"apply", ".", "resource_manager"}, "job: succeeded"},
		{[]string{"apply", ".", "pipeline"}, "item: succeeded"},
		{[]string{"kv", "get", "item_c", "--namespace", "logs"}, `"stage":"output"`},
	} {
		out, code := flow(t, binary, dir, nil, c.words...)
		if code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("flowrun %s: exit code %d, want %q in\n%s", strings.Join(c.words, " "), code, c.want, out)
		}
	}
}

// linked returns the path of a link with the name flowrun to this program.
func linked(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "flowrun")
	if err := os.Symlink(self, binary); err != nil {
		t.Fatal(err)
	}
	return binary
}
