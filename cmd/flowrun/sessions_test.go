package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// taskKeeper is a service of the Agent2Agent protocol with one task, which ends when finish is set.
type taskKeeper struct {
	sync.Mutex
	*httptest.Server
	given, asked int
	finish       bool
}

func newTaskKeeper(t *testing.T) *taskKeeper {
	k := &taskKeeper{}
	k.Server = httptest.NewServer(k)
	t.Cleanup(k.Close)
	return k
}

func (k *taskKeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.Lock()
	defer k.Unlock()
	if r.Method == "GET" {
		fmt.Fprintf(w, `{"name":"k","supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, k.URL)
		return
	}
	var q struct {
		ID     int
		Method string
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	switch q.Method {
	case "SendMessage":
		k.given++
	case "GetTask":
		k.asked++
	}
	state := "TASK_STATE_WORKING"
	if k.finish {
		state = "TASK_STATE_COMPLETED"
	}
	if q.Method == "CancelTask" {
		state = "TASK_STATE_CANCELED"
	}
	task := fmt.Sprintf(`{"id":"t1","status":{"state":"%s"},"artifacts":[{"artifactId":"a","parts":[{"text":"did it once"}]}]}`, state)
	if q.Method == "SendMessage" {
		task = `{"task":` + task + `}`
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":%s}`, q.ID, task)
}

// A run whose driver is killed with SIGKILL, or stops, while an agent works goes on in the agent's session or task, and does not give the task twice.
func TestKilledSessionsGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []os.Signal{os.Kill, os.Interrupt} {
		for _, kind := range []string{"acp", "a2a"} {
			t.Run(kind+" "+how.String(), func(t *testing.T) {
				t.Parallel()
				binary, dir := build(t), t.TempDir()
				agent, keeper := filepath.Join(dir, "sessions"), newTaskKeeper(t)
				if err := os.Symlink(self, agent); err != nil {
					t.Fatal(err)
				}
				block, begun := fmt.Sprintf("command = [%q]", agent), func() bool { _, err := os.Stat(filepath.Join(dir, "s1.session")); return err == nil }
				if kind == "a2a" {
					block, begun = fmt.Sprintf("url = %q", keeper.URL), func() bool { keeper.Lock(); defer keeper.Unlock(); return keeper.asked > 0 }
				}
				program := fmt.Sprintf("agent \"a\" {\n  type = %q\n  %s\n}\n\nworkflow \"w\" {\n  step \"s\" {\n    agent = agent.a\n    task  = \"Do it.\"\n  }\n  output \"o\" { value = step.s.output }\n}\n", kind, block)
				if err := os.WriteFile(filepath.Join(dir, "w.flow.hcl"), []byte(program), 0o600); err != nil {
					t.Fatal(err)
				}
				c := exec.Command(binary, "apply", "w.flow.hcl", "--store", filepath.Join(dir, "store"))
				c.Dir = dir
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				for end := time.Now().Add(time.Minute); !begun(); time.Sleep(5 * time.Millisecond) {
					if time.Now().After(end) {
						_ = c.Process.Kill()
						t.Fatal("the agent does not begin")
					}
				}
				_ = c.Process.Signal(how)
				_ = c.Wait()
				keeper.Lock()
				keeper.finish = true
				keeper.Unlock()
				out, code := flow(t, binary, dir, nil, "resume", "latest")
				text, session := "went on in s1", "the agent of s works in its session s1"
				if kind == "a2a" {
					text, session = "did it once", "the agent of s works in its session t1"
				}
				want(t, out, code, 0, "o = "+text)
				if keeper.Lock(); kind == "a2a" && keeper.given != 1 {
					t.Errorf("the task was given %d times", keeper.given)
				}
				keeper.Unlock()
				if out, _ = flow(t, binary, dir, nil, "events", "latest"); strings.Count(out, session) != 1 {
					t.Errorf("no %q in\n%s", session, out)
				}
			})
		}
	}
}
