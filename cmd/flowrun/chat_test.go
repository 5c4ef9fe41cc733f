package main_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The model of examples/chat-tools searches a shelf, reads what it found, and answers. Then the server changes the description of a tool: the
// model is not asked, until the new one is pinned.
func TestExampleChatTools(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	binary, dir := build(t), copied(t, "chat-tools")
	made := exec.Command("go", "build", "-o", "stub", "stub.go")
	made.Dir = dir
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	stub := exec.Command(filepath.Join(dir, "stub"), "model", "0")
	out, err := stub.StdoutPipe()
	if err == nil {
		err = stub.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stub.Process.Kill(); _ = stub.Wait() })
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	edit := func(file, from, to string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(text), from) {
			t.Fatalf("%s: %v, want %q in it", file, err, from)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.ReplaceAll(string(text), from, to)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("chat-tools.flow.hcl", `"go", "run", "stub.go"`, `"./stub"`)
	url := "url=http://127.0.0.1:" + strings.TrimSpace(port) + "/v1"
	expect := func(code int, wanted []string, words ...string) {
		t.Helper()
		text, got := flow(t, binary, dir, nil, words...)
		for _, w := range wanted {
			if got != code || !strings.Contains(text, w) {
				t.Errorf("%v: exit code %d, want %d and %q\n%s", words, got, code, w, text)
			}
		}
	}
	expect(0, []string{"answer: says: tool ", `notes = ["spring","tides"]`, "The moon raises the tides"}, "apply", ".", "--var", url)
	expect(0, []string{`"name":"search","arguments":{"query":"coffee"}`, "600 input tokens, 60 output tokens"}, "agents", "test", "librarian", ".", "--task", "What do we know about coffee?", "--var", url)
	expect(0, []string{"server shelf of agent librarian has 2 tools that the agent uses"}, "doctor", ".")
	expect(0, []string{"2 passed"}, "test", ".")
	edit("shelf.tools.json", "Reads a note.", "Reads a note, and nothing else.")
	const changed = `server "shelf": the server describes the tool "read" in other words than its pin: description.`
	expect(1, []string{changed}, "apply", ".", "--var", url)
	expect(1, []string{"server shelf of agent librarian describes read in other words than the pin"}, "doctor", ".")
	if err := os.Truncate(filepath.Join(dir, "shelf.tools.json"), 0); err != nil {
		t.Fatal(err)
	}
	expect(0, []string{""}, "agents", "pin", "librarian", "--server", "shelf", "--out", filepath.Join(dir, "shelf.tools.json"))
	expect(0, []string{"notes = []"}, "apply", ".", "--var", url, "--input", "about=tea")
	expect(2, []string{"Did you mean shelf?"}, "agents", "pin", "librarian", "--server", "shelv")
	edit("chat-tools.flow.hcl", `["search", "read"]`, `["search", "reed"]`)
	expect(1, []string{`The pin does not describe the tool "reed" (F0162)`, `Did you mean "read"?`}, "validate", ".")
}

// The models of examples/chat write, judge and write again; a stub stands in for both.
func TestExampleChat(t *testing.T) {
	python, err := exec.LookPath("python3")
	switch {
	case err != nil || exec.Command(python, "--version").Run() != nil:
		t.Skip("SKIPPED: there is no python3 here, which the stub of the model is written in")
	case testing.Short():
		t.Skip("builds the command")
	}
	binary, dir := build(t), copied(t, "chat")
	stub := exec.Command(python, "model.py", "0")
	stub.Dir = dir
	out, err := stub.StdoutPipe()
	if err == nil {
		err = stub.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stub.Process.Kill(); _ = stub.Wait() })
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := "url=http://127.0.0.1:" + strings.TrimSpace(port)
	text, code := flow(t, binary, dir, nil, "apply", ".", "--var", url)
	if code != 0 || !strings.Contains(text, "attempts = 2") || !strings.Contains(text, "agents ask models by API") {
		t.Errorf("exit code %d\n%s", code, text)
	}
	for _, agent := range []string{"writer", "judge"} {
		if text, code = flow(t, binary, dir, nil, "agents", "test", agent, ".", "--var", url); code != 0 || !strings.Contains(text, "answered in") {
			t.Errorf("%s: exit code %d\n%s", agent, code, text)
		}
	}
}
