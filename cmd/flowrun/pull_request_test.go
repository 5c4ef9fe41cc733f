package main_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// callable is a workflow of GitHub that other workflows call.
type callable struct {
	On struct {
		Call struct {
			Inputs map[string]struct{ Description, Type, Default string }
		} `yaml:"workflow_call"`
	}
	Permissions map[string]string
	Jobs        map[string]struct {
		Steps []struct {
			Name, Uses, If, Shell, Run string
			With, Env                  map[string]string
			Dir                        string `yaml:"working-directory"`
		}
	}
}

// The workflow for pull requests does what it says: its steps are run in a repository with a base and a change.
func TestPullRequestWorkflow(t *testing.T) {
	var w callable
	if err := yaml.Unmarshal([]byte(readCI(t, ".github/workflows/pull-request.yml")), &w); err != nil {
		t.Fatal(err)
	}
	usual := map[string]string{}
	for name, in := range w.On.Call.Inputs {
		if in.Type != "string" || in.Description == "" || in.Default == "" {
			t.Errorf("input %s is %+v", name, in)
		}
		usual[name] = in.Default
	}
	steps, known := map[string]*step{}, actionDefaults(t)
	for _, s := range w.Jobs["flowrun"].Steps {
		if s.Run != "" {
			steps[s.Name] = &step{s.Env, s.Run}
			if s.Shell != "bash" || s.Dir != "${{ inputs.working-directory }}" {
				t.Errorf("step %s runs %s in %s", s.Name, s.Shell, s.Dir)
			}
		}
		for name, value := range s.With {
			input := inputName.FindStringSubmatch(value)
			if _, ok := known[name]; strings.HasPrefix(s.Uses, "flowrun/") && (!ok || input == nil || usual[input[1]] != known[name]) {
				t.Errorf("the action is given %s = %s, and has it as %q", name, value, known[name])
			}
		}
	}
	if len(steps) != 2 || len(usual) != 5 || len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
		t.Fatalf("the workflow has the steps %v, the inputs %v and the permissions %v", steps, usual, w.Permissions)
	}
	temp := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(temp, "flowrun-bin"), 0o777), os.Symlink(build(t), filepath.Join(temp, "flowrun-bin/flowrun"))); err != nil {
		t.Fatal(err)
	}
	const (
		changed  = "workflow \"w\" {\n  step \"a\" { value = 1 }\n  step \"b\" { value = 2 }\n}\n"
		goodTest = "test \"t\" {\n  workflow = workflow.w\n  expect   = [\"step.a.output == 1\"]\n}\n"
	)
	badTest := strings.Replace(goodTest, "== 1", "== 2", 1)
	for _, c := range []struct {
		name, base, flow, test string // base "" has no commit
		inputs                 map[string]string
		plan, tests            int
		summary, said          string
	}{
		{"a change", goodFlow, changed, goodTest, nil, 0, 0, "\n- b added\n", "1 passed\n"},
		{"nothing changes", goodFlow, goodFlow, "", nil, 0, 0, ": 0 workflows differ, 1 does not\n", "no file *.flowtest.hcl"},
		{"a change that is refused", goodFlow, badFlow, "", nil, 1, 0, "; 1 program has errors\n", ""},
		{"a base that was refused", badFlow, goodFlow, "", nil, 0, 0, "had errors, so that there is nothing to compare with", ""},
		{"the first commit", "", goodFlow, "", nil, 0, 0, "The first commit has nothing to compare with.\n", ""},
		{"a test that fails", goodFlow, goodFlow, badTest, nil, 0, 1, "", "::error "},
		{"paths one a line", goodFlow, changed, "", map[string]string{"paths": "my flows\n\nmy flows/main.flow.hcl\n"}, 0, 0, ": 2 workflows differ,", ""},
		{"inputs are not commands", goodFlow, changed, "", map[string]string{"paths": "$(touch hacked)", "against": "`touch hacked`", "tests": "$(touch hacked)"}, 2, 3, "", "touch hacked"},
		{"inputs are not flags", goodFlow, changed, "", map[string]string{"paths": "--help", "against": "--help", "tests": "--help"}, 2, 3, "", "--help"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := project(t, c.base)
			commit := func(files map[string]string) {
				for name, text := range files {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				for _, words := range []string{"init -q", "add -A", "commit -q --allow-empty -m a"} {
					git := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.example"}, strings.Fields(words)...)...)
					git.Dir = dir
					if said, err := git.CombinedOutput(); err != nil {
						t.Fatalf("git %s: %v\n%s", words, err, said)
					}
				}
			}
			if err := os.Remove(filepath.Join(dir, ".git/HEAD")); err != nil {
				t.Fatal(err)
			}
			if c.base != "" {
				commit(nil)
			}
			files := map[string]string{"my flows/main.flow.hcl": c.flow}
			if c.test != "" {
				files["my flows/main.flowtest.hcl"] = c.test
			}
			commit(files)
			summary, inputs := filepath.Join(dir, "summary.md"), maps.Clone(usual)
			maps.Copy(inputs, c.inputs)
			env := runnerEnv(t, "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+summary)
			plan, err := steps["Plan what changes"].run(t, dir, inputs, env)
			if code := exitCodeOf(err); code != c.plan {
				t.Errorf("plan: exit code %d\n%s", code, plan)
			}
			text, _ := os.ReadFile(summary)
			if !strings.Contains(string(text), c.summary) {
				t.Errorf("the summary is %q", text)
			}
			tests, err := steps["Test"].run(t, dir, inputs, env)
			if code := exitCodeOf(err); code != c.tests || !strings.Contains(plan+tests, c.said) {
				t.Errorf("test: exit code %d\n%s%s", code, plan, tests)
			}
			if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
				t.Error("an input became a command")
			}
			checkOthers(t, dir, plan)
		})
	}
}
