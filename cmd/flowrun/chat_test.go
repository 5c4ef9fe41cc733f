package main_test

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
)

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
