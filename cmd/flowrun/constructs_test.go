package main

import (
	"encoding/json"
	"fmt"
	"github.com/flowrun/flowrun/dsl"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestConstructs runs each control-flow pattern and the file of each construct with the real command and real processes.
// Every node must end as it does in virtual time: that stands in the golden file beside it.
func TestConstructs(t *testing.T) {
	if testing.Short() {
		t.Skip("waits some seconds")
	}
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"flowrun", "agent", "say", "exit", "fail", "flaky"} {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	environ := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "FLOWRUN_STORE=", "FLOWRUN_VAR_key=the key of a webhook")
	var files []string
	for _, folder := range []string{"patterns", "constructs"} {
		found, err := filepath.Glob("../../testdata/" + folder + "/*.hcl")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, slices.DeleteFunc(found, dsl.IsTest)...)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".hcl")
		if name == "http" {
			continue // its server is a story of its own
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden, err := os.ReadFile(strings.TrimSuffix(f, ".hcl") + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			_, want, _ := strings.Cut(string(golden), "----\n")
			dir := t.TempDir()
			source, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "flow.hcl"), source, 0o644); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(source), "\n# races\n") { // its end depends on what is faster: that must not be the machine's mood
				if err := os.WriteFile(filepath.Join(dir, slow), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			flowrun := func(words ...string) []byte {
				c := exec.Command(filepath.Join(bin, "flowrun"), words...)
				c.Dir, c.Env, c.Stderr = dir, environ, new(strings.Builder)
				out, err := c.Output()
				if c.ProcessState == nil || c.ProcessState.ExitCode() > 1 && c.ProcessState.ExitCode() != 5 {
					t.Fatalf("flowrun %q: %v\n%s%s", words, err, out, c.Stderr)
				}
				return out
			}
			told := flowrun("apply", "flow.hcl", "--no-wait=false", "--json") // nobody decides: the time of approvals runs out
			run := theRun.FindSubmatch(told)                                  // events may have started others after it
			if run == nil {
				t.Fatalf("apply tells of no run: %s", told)
			}
			if got, want := ended(t, flowrun("runs", "show", string(run[1]), "--json")), statuses(want); !slices.Equal(got, want) {
				t.Errorf("it ends otherwise (-virtual +real):\n%s", cmp.Diff(want, got))
			}
		})
	}
}

// theRun finds the first run that apply tells of.
var theRun = regexp.MustCompile(`"run":"([a-z0-9]+)"`)

// statuses takes of a golden's lines what must be the same: who, and how it ended; and the outputs.
func statuses(golden string) (out []string) {
	for _, line := range strings.Split(strings.TrimSpace(golden), "\n") {
		if strings.HasPrefix(line, " ") && len(out) > 0 { // a value goes on
			out[len(out)-1] += "\n" + line
			continue
		}
		words := strings.Fields(line)
		if len(words) > 1 && words[1] == "=" {
			out = append(out, line)
			continue
		}
		out = append(out, words[0]+" "+strings.TrimSuffix(words[1], ":"))
	}
	return out
}

// ended reads the same from a run as the command shows it to programs.
func ended(t *testing.T, document []byte) (out []string) {
	t.Helper()
	var run struct {
		Status  string
		Outputs map[string]json.RawMessage
		Nodes   []struct{ ID, Status string }
	}
	if err := json.Unmarshal(document, &run); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	for _, n := range run.Nodes {
		out = append(out, n.ID+" "+n.Status)
	}
	out = append(out, "run "+run.Status)
	names := make([]string, 0, len(run.Outputs))
	for name := range run.Outputs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text := string(run.Outputs[name])
		var s string
		if json.Unmarshal(run.Outputs[name], &s) == nil && text != "null" {
			text = s
		}
		out = append(out, name+" = "+text)
	}
	return out
}

// The programs of the files. An agent's task says in with how long it takes (here tenths of seconds, or seconds beside a
// file slow), how often it fails, how many dollars each attempt costs, and what an agent who judges it says.

const slow = "slow"

func agent() {
	var request struct {
		Agent    string
		Attempt  int
		Feedback string
		With     map[string]any
	}
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = json.Unmarshal(text, &request)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	takes, _ := request.With["takes"].(float64)
	if _, err := os.Stat(slow); err == nil {
		takes *= 10
	}
	time.Sleep(time.Duration(takes * float64(100*time.Millisecond)))
	costs, _ := request.With["costs"].(float64)
	usage := map[string]any{"cost_usd": costs}
	if fails, _ := request.With["fails"].(float64); request.Attempt <= int(fails) {
		kind, _ := request.With["kind"].(string)
		if kind == "" {
			kind = "recoverable"
		}
		_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"type": "error", "kind": kind, "message": "it fails", "usage": usage})
		return
	}
	var output any = map[string]any{"agent": request.Agent, "attempt": request.Attempt, "feedback": request.Feedback, "with": request.With}
	if result, judges := request.With["result"].(map[string]any); judges {
		output = result["output"].(map[string]any)["with"].(map[string]any)["judged"]
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"type": "result", "output": output, "usage": usage})
}

func say() { fmt.Println(strings.Join(os.Args[1:], " ")) }

func exit() {
	code, _ := strconv.Atoi(os.Args[1])
	os.Exit(code)
}

func fail() {
	fmt.Fprintln(os.Stderr, strings.Join(os.Args[2:], " "))
	exit()
}

func flaky() {
	attempt, _ := strconv.Atoi(os.Getenv("FLOWRUN_ATTEMPT"))
	if least, _ := strconv.Atoi(os.Args[1]); attempt < least {
		os.Exit(1)
	}
}
