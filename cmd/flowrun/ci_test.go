package main_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The files that CI systems read of this repository do what they say: the steps of action.yml and the hooks of
// .pre-commit-hooks.yaml are run in a repository of their own, with a program that is good and one that is not.

const (
	goodFlow  = "workflow \"w\" {\n  step \"a\" { value = 1 }\n}\n"
	badFlow   = "workflow \"w\" {\n  step \"a\" { rum = [\"true\"] }\n}\n"
	looseFlow = "workflow   \"w\" {\n  step \"a\" { value = 1 }\n}\n"
)

// others are files of other tools, laid out as theirs may be. Whoever is asked about DIR/... neither touches nor judges them.
var others = map[string]string{
	"main.tf":                     "resource   \"null_resource\" \"x\" {}\n",
	"variables.tf":                "variable   \"x\" { default=1 }\n",
	"prod.tfvars":                 "x=1\n",
	".terraform.lock.hcl":         "provider   \"registry.terraform.io/hashicorp/null\" {\n    version=\"3.2.1\"\n}\n",
	"tests/main.tftest.hcl":       "run   \"plan\" { command=plan }\n",
	"stack/x.tfstack.hcl":         "component   \"x\" { source=\"./x\" }\n",
	"root.hcl":                    "remote_state {\n    backend=\"s3\"\n}\n",
	"live/terragrunt.hcl":         "include   \"root\" { path=find_in_parent_folders(\"root.hcl\") }\ninputs={ a=1 }\n",
	"live/env.hcl":                "locals   { region=\"eu\" }\n",
	"live/_cache/x/main.hcl":      "terraform   { source=\"../x\" }\n",
	"jobs/app.nomad":              "job   \"app\" {}\n",
	"jobs/web.nomad.hcl":          "job   \"web\" {\n    type=\"service\"\n}\n",
	"jobs/client.hcl":             "client   {\n    enabled=true\n}\n",
	"acl/nomad.policy.hcl":        "agent   { policy=\"read\" }\nquota   { policy=\"read\" }\n",
	"acl/consul.hcl":              "agent   \"node\" { policy=\"write\" }\n",
	"acl/vault.hcl":               "path   \"secret/*\" { capabilities=[\"read\"] }\n",
	"images/ubuntu.pkr.hcl":       "source   \"docker\" \"x\" { image=\"ubuntu\" }\nbuild   { sources=[\"docker.x\"] }\n",
	"images/variables.pkr.hcl":    "variable   \"x\" { default=1 }\n",
	"images/prod.pkrvars.hcl":     "x=1\n",
	"docker-bake.hcl":             "group   \"default\" { targets=[\"x\"] }\n",
	".tflint.hcl":                 "plugin   \"aws\" { enabled=true }\n",
	"waypoint.hcl":                "project=\"x\"\napp   \"x\" {\n    build { use \"docker\" {} }\n}\n",
	"policies/sentinel.hcl":       "policy   \"x\" { enforcement_level=\"advisory\" }\n",
	"atlas.hcl":                   "env   \"local\" { url=\"sqlite://x\" }\n",
	"broken.hcl":                  "this is = no HCL {\n",
	"my flows/other.pkr.hcl":      "build   {}\n",
	".hidden/bad.flow.hcl":        "workflow   {\n",
	"node_modules/x/bad.flow.hcl": "workflow   {\n",
}

// project makes a repository with one program in a folder whose name must be quoted, and files of other tools.
func project(t *testing.T, flow string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{".git/HEAD": "", "my flows/main.flow.hcl": flow, "other/notes.txt": ""}
	maps.Copy(all, others)
	for name, text := range all {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkOthers compares the files of other tools byte by byte, and looks for their names in what was said.
func checkOthers(t *testing.T, dir, said string) {
	t.Helper()
	for name, want := range others {
		if have, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(have) != want {
			t.Errorf("%s was touched: %q, %v", name, have, err)
		}
		if strings.Contains(said, name) {
			t.Errorf("%s was judged: %s", name, said)
		}
	}
}

// What is asked about a whole repository leaves alone the HCL of other tools.
func TestOtherTools(t *testing.T) {
	binary := build(t)
	for words, want := range map[string]string{
		"validate ./...": "1 program with 1 node: no errors\n", "validate": "", "fmt ./...": "my flows/main.flow.hcl\n", "fmt --check ./...": "my flows/main.flow.hcl\n",
		"fmt": "", "fmt .": "", "fmt live": "", "fmt jobs images": "", "fmt acl/consul.hcl": "", "fmt images/variables.pkr.hcl": "", "fmt broken.hcl": "",
	} {
		dir := project(t, looseFlow)
		cmd := exec.Command(binary, strings.Fields(words)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GITHUB_ACTIONS=")
		out, err := cmd.Output()
		if want != "" && string(out) != want || (want == "") != (err != nil) && words != "fmt --check ./..." {
			t.Errorf("%s: %v, %q", words, err, out)
		}
		checkOthers(t, dir, string(out))
	}
}

// runnerEnv is the environment that a runner gives a step, without what this test itself runs under.
func runnerEnv(t *testing.T, more ...string) []string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GITHUB_") {
			env = append(env, e)
		}
	}
	return append(env, append(more, "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH="+root)...)
}

func TestAction(t *testing.T) {
	_, steps := actionSteps(t)
	temp := t.TempDir()
	if out, err := steps[0].run(t, ".", nil, runnerEnv(t, "RUNNER_TEMP="+temp)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		name, flow string
		inputs     map[string]string
		code       int
		want       string
	}{
		{"a good program", goodFlow, nil, 0, "1 program with 1 node: no errors\n"},
		{"a bad program", badFlow, nil, 1, "::error file=my flows/main.flow.hcl,line=2,"},
		{"paths one a line", badFlow, map[string]string{"paths": "my flows/main.flow.hcl\n\nmy flows\n"}, 1, "::error file=my flows/main.flow.hcl,"},
		{"a path is not a flag", goodFlow, map[string]string{"paths": "--help"}, 3, "--help"},
		{"a path is not a command", goodFlow, map[string]string{"paths": "$(touch hacked); `touch hacked`"}, 3, "touch hacked"},
		{"a binary that is there", goodFlow, map[string]string{"binary": temp + "/flowrun-bin/flowrun"}, 0, "no errors"},
		{"a level that there is not", goodFlow, map[string]string{"fail-level": "none"}, 2, "--fail-level"},
		{"sarif beside annotations", badFlow, map[string]string{"sarif": "out.sarif"}, 1, "::error "},
	} {
		dir := project(t, c.flow)
		summary := filepath.Join(dir, "summary.md")
		out, err := steps[1].run(t, dir, c.inputs, runnerEnv(t, "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+summary))
		if code := exitCodeOf(err); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit code %d, %q", c.name, code, out)
		}
		checkOthers(t, dir, out)
		if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
			t.Errorf("%s: an input became a command", c.name)
		}
		if text, err := os.ReadFile(summary); c.code < 2 && (err != nil || !strings.HasPrefix(string(text), "### flowrun validate: ")) {
			t.Errorf("%s: the summary is %q, %v", c.name, text, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "out.sarif")); c.inputs["sarif"] != "" && (err != nil || !strings.Contains(string(text), `"uri": "my%20flows/main.flow.hcl"`)) {
			t.Errorf("%s: the report is %q, %v", c.name, text, err)
		}
	}
}

// The action takes the flowrun of its release if there is one, and stops if that has another sum than the release says. It builds
// flowrun only if there is no release for this machine.
func TestActionTakesARelease(t *testing.T) {
	take, _ := actionSteps(t)
	name := "flowrun_" + runtime.GOOS + "_" + runtime.GOARCH
	good := archive(t, name+"/flowrun", "#!/bin/sh\necho released\n")
	sums := fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(good), name)
	wrong := fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256([]byte("other")), name)
	const at = "/a/flowrun/releases/download/v1.2.3/"
	keys := map[string]bool{}
	for _, c := range []struct {
		name, ref string
		files     map[string]string
		code      int
		want      string
		taken     bool
	}{
		{"a release", "v1.2.3", map[string]string{at + "SHA256SUMS": sums, at + name + ".tar.gz": string(good)}, 0, "flowrun v1.2.3 was taken", true},
		{"a wrong sum", "v1.2.3", map[string]string{at + "SHA256SUMS": wrong, at + name + ".tar.gz": string(good)}, 1, "::error::" + name + ".tar.gz of release v1.2.3 has the SHA-256", false},
		{"no sum of this archive", "v1.2.3", map[string]string{at + "SHA256SUMS": "", at + name + ".tar.gz": string(good)}, 1, "SHA256SUMS says nothing of it", false},
		{"a cut archive", "v1.2.3", map[string]string{at + "SHA256SUMS": sums, at + name + ".tar.gz": string(good[:40])}, 1, "::error::", false},
		{"no release", "v1.2.4", nil, 0, "release v1.2.4 has no SHA256SUMS", false},
		{"no archive for this machine", "v1.2.3", map[string]string{at + "SHA256SUMS": "x  flowrun_plan9_386.tar.gz\n"}, 0, "has no " + name + ".tar.gz", false},
		{"a branch", "main", map[string]string{"": "no request is made"}, 0, "\"main\" is not a version", false},
		{"the action of this checkout", "", map[string]string{"": "no request is made"}, 0, "is not a version", false},
		{"a broken server", "v1.2.3", map[string]string{at + "SHA256SUMS": "500"}, 0, "::warning::SHA256SUMS of release v1.2.3", false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, ok := c.files[r.URL.Path]
			if !ok {
				http.NotFound(w, r)
			} else if text == "500" {
				http.Error(w, "broken", http.StatusNotImplemented) // curl repeats a request after 500
			} else {
				fmt.Fprint(w, text)
			}
			if c.files[""] != "" {
				t.Errorf("%s: %s was asked for", c.name, r.URL.Path)
			}
		}))
		temp := t.TempDir()
		outputs := filepath.Join(temp, "outputs")
		said, err := take.run(t, temp, map[string]string{"github.action_ref": c.ref, "github.action_repository": "a/flowrun"},
			runnerEnv(t, "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+outputs, "GITHUB_SERVER_URL="+server.URL))
		server.Close()
		if code := exitCodeOf(err); code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%s: exit code %d, %q", c.name, code, said)
		}
		ran, _ := exec.Command(filepath.Join(temp, "flowrun-bin", "flowrun")).Output()
		if taken := string(ran) == "released\n"; taken != c.taken {
			t.Errorf("%s: taken: %v, %s", c.name, taken, said)
		}
		switch text, _ := os.ReadFile(outputs); {
		case c.code != 0 && len(text) > 0, c.taken && string(text) != "taken=true\n":
			t.Errorf("%s: the outputs are %q", c.name, text)
		case c.code == 0 && !c.taken:
			if !regexp.MustCompile(`^taken=false\nkey=flowrun-\w+-\w+-[0-9a-f]{64}\n$`).Match(text) {
				t.Errorf("%s: the outputs are %q", c.name, text)
			}
			keys[string(text)] = true
		}
	}
	if len(keys) != 1 {
		t.Errorf("equal sources have the keys %v", keys)
	}
}

// archive makes a .tar.gz with one program.
func archive(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func exitCodeOf(err error) int {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// step is a step of action.yml that runs a shell.
type step struct {
	env    map[string]string
	script string
}

// run carries a step out as GitHub's runner does: inputs, and what the runner knows of the action, become environment variables as
// the step says, and the shell is bash with the options that the runner gives it.
func (s *step) run(t *testing.T, dir string, inputs map[string]string, env []string) (string, error) {
	t.Helper()
	if strings.Contains(s.script, "${{") {
		t.Error("an expression stands inside a script: its value could become a command")
	}
	for name, value := range s.env {
		input := inputName.FindStringSubmatch(value)
		if input == nil {
			t.Fatalf("%s is %q, which is not an input", name, value)
		}
		given, ok := inputs[input[1]]
		if !ok {
			given = actionDefaults(t)[input[1]]
		}
		env = append(env, name+"="+given)
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", s.script)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var (
	inputName = regexp.MustCompile(`^\$\{\{ (?:inputs\.)?(github\.action_\w+|[\w-]+) \}\}$`)
	oneStep   = regexp.MustCompile(`(?m)^    - name: .*\n((?:      .*\n)+)`)
	oneEnv    = regexp.MustCompile(`(?m)^        (\w+): (\$.*)$`)
	script    = regexp.MustCompile(`(?m)^      run: \|\n((?:        .*\n|\n)+)`)
	oneInput  = regexp.MustCompile(`(?m)^  ([\w-]+):\n    description: .*\n    default: (.*)$`)
)

func readCI(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// actionSteps reads the steps of action.yml that run a shell: the one that takes a release, and those that build and validate. It
// knows as much of YAML as that file uses.
func actionSteps(t *testing.T) (take *step, out []*step) {
	t.Helper()
	for _, m := range oneStep.FindAllStringSubmatch(readCI(t, "action.yml"), -1) {
		run := script.FindStringSubmatch(m[1])
		if run == nil {
			continue
		}
		s := &step{env: map[string]string{}, script: regexp.MustCompile(`(?m)^        `).ReplaceAllString(run[1], "")}
		for _, e := range oneEnv.FindAllStringSubmatch(strings.Replace(m[1], run[1], "", 1), -1) {
			s.env[e[1]] = e[2]
		}
		out = append(out, s)
	}
	if len(out) != 3 || len(out[0].env) != 2 || len(out[1].env) != 0 || len(out[2].env) != 4 {
		t.Fatalf("action.yml has other steps: %+v", out)
	}
	return out[0], out[1:]
}

func actionDefaults(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range oneInput.FindAllStringSubmatch(readCI(t, "action.yml"), -1) {
		out[m[1]] = strings.Trim(m[2], `"`)
	}
	if len(out) != 5 {
		t.Fatalf("action.yml has the inputs %v", out)
	}
	return out
}

// TestHooks runs the hooks as pre-commit does: entry, args and, unless the hook wants none, the names of the files.
func TestHooks(t *testing.T) {
	binary := build(t)
	hooks := regexp.MustCompile(`(?m)^- id: (.*)\n((?:  .*\n)+)`).FindAllStringSubmatch(readCI(t, ".pre-commit-hooks.yaml"), -1)
	if len(hooks) != 2 {
		t.Fatalf("%d hooks", len(hooks))
	}
	for _, h := range hooks {
		field := func(name string) string {
			m := regexp.MustCompile(`(?m)^  ` + name + `: (.*)$`).FindStringSubmatch(h[2])
			if m == nil {
				return ""
			}
			return m[1]
		}
		name := "my flows/main.flow.hcl"
		taken := func(name string) bool { // pre-commit knows nothing of hidden folders
			return !strings.HasSuffix(name, ".flow.hcl") && regexp.MustCompile(field("files")).MatchString(name)
		}
		if field("language") != "golang" || !regexp.MustCompile(field("files")).MatchString(name) || slices.ContainsFunc(slices.Collect(maps.Keys(others)), taken) {
			t.Errorf("%s: %s", h[1], h[2])
		}
		words := append(strings.Fields(field("entry")), strings.Fields(strings.Trim(field("args"), "[]"))...)
		if field("pass_filenames") != "false" {
			words = append(words, name)
		}
		for _, c := range []struct {
			flow string
			fine bool
		}{{goodFlow, true}, {badFlow, h[1] == "flowrun-fmt"}, {looseFlow, h[1] == "flowrun-validate"}} {
			dir := project(t, c.flow)
			cmd := exec.Command(binary, words[1:]...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GITHUB_ACTIONS=")
			out, err := cmd.CombinedOutput()
			after, _ := os.ReadFile(filepath.Join(dir, name))
			checkOthers(t, dir, string(out))
			// A hook fails when its command does, and when it changed a file.
			if fine := err == nil && string(after) == c.flow; fine != c.fine {
				t.Errorf("%s on %q: %v\n%s", h[1], c.flow, err, out)
			}
		}
	}
}
