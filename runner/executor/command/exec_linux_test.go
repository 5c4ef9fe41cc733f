package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A process that becomes another program shows no environment for a moment. Whoever looks for the processes of a run must not
// take it for one that is not there.
func TestProcessesThatBecomeAnotherProgramAreSeen(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "again.sh")
	if err := os.WriteFile(script, []byte("exec sh "+script+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", script)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "FLOWRUN_RUN=becomes", childVar + "=other-1"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	missed := 0
	for range 500 { // without the wait, one in 20
		if !holds(environOf(cmd.Process.Pid), "FLOWRUN_RUN=becomes\x00") {
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("of 500 looks, %d missed the process", missed)
	}
}
