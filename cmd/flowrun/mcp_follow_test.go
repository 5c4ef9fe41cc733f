package main_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client follows a run that another process drives: what happens is progress while it happens, and the tool returns when the run has ended.
func TestMCPFollows(t *testing.T) {
	t.Parallel()
	told := make(chan string, 1000)
	s, dir := mcpClient(t, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params.Message }}, "--allow", "read")
	program := "workflow \"slow\" {\n  step \"talk\" { run = [\"sh\", \"-c\", \"echo begun; until [ -e go ]; do sleep 0.02; done; echo through\"] }\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "slow.flow.hcl"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]struct{ progress, result string }{"run": {"talk: running", `"succeeded"`}, "logs": {"begun", "through"}} {
		_ = os.Remove(filepath.Join(dir, "go"))
		c := exec.Command(build(t), "apply", "slow.flow.hcl", "--store", filepath.Join(dir, "store"))
		c.Dir = dir
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = c.Process.Kill() // if it still runs, the test has failed
			_ = c.Wait()
		}()
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if text, _ := call(t, s, "runs", map[string]any{"status": []string{"running"}}); strings.Contains(text, `"slow"`) {
				break
			}
			if time.Now().After(end) {
				t.Fatal("the run does not begin")
			}
		}
		ended := make(chan *mcp.CallToolResult, 1)
		go func() {
			p := &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"run": "latest", "follow": true}}
			p.SetProgressToken(tool)
			r, err := s.CallTool(t.Context(), p)
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		for heard := false; !heard; {
			select {
			case line := <-told:
				heard = strings.Contains(line, want.progress)
			case r := <-ended:
				t.Fatalf("%s returned before the run has ended: %+v", tool, r)
			case <-time.After(time.Minute):
				t.Fatalf("%s: no progress %q", tool, want.progress)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		select {
		case r := <-ended:
			if text := r.Content[0].(*mcp.TextContent).Text; r.IsError || !strings.Contains(text, want.result) {
				t.Errorf("%s: no %q in %s", tool, want.result, text)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s does not return", tool)
		}
	}
}
