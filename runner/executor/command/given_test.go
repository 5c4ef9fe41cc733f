package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/runner/event"
)

func TestStdinAndValues(t *testing.T) {
	x := newTest(t, Options{Environ: append([]string{"FLOWRUN_V0=outer", "FLOWRUN_V7=outer", "FLOWRUN_OUTPUT=/outer"}, testEnviron...)})
	text := strings.Repeat("line\x00\n", 200<<10/6)
	for name, c := range map[string]struct {
		script string
		stdin  *string
		values []string
		want   string
	}{
		"nothing to read":      {script: "wc -c | tr -d ' '", want: "0\n"},
		"an empty text":        {script: "wc -c | tr -d ' '", stdin: new(string), want: "0\n"},
		"more than a pipe":     {script: "cat", stdin: &text, want: text},
		"not read":             {script: "true", stdin: &text},
		"values":               {script: `printf '%s|' "${FLOWRUN_V0}" "${FLOWRUN_V1}"`, values: []string{"a\nb", "$(c)"}, want: "a\nb|$(c)|"},
		"nothing of another's": {script: `echo "$FLOWRUN_V0$FLOWRUN_V7$FLOWRUN_OUTPUT"`, want: "\n"},
	} {
		a := script(c.script)
		a.Stdin, a.Values = c.stdin, c.values
		if f := do(x, a); f.Outcome != event.OK || f.Stdout != c.want {
			t.Errorf("%s: %s: %.100q", name, brief(f), f.Stdout)
		}
	}
}

func TestPassEnv(t *testing.T) {
	x := newTest(t, Options{})
	a := script(`echo "$MY_TOKEN$DB_PASSWORD"`)
	if f := do(x, a); f.Stdout != "\n" {
		t.Errorf("secrets pass unasked: %q", f.Stdout)
	}
	a.PassEnv = []string{"MY_TOKEN", "NOT_THERE"}
	if f := do(x, a); f.Stdout != "t\n" {
		t.Errorf("%q", f.Stdout)
	}
}

// A script that fails and reads a variable that is kept from it is told so, and another one is not.
func TestMissedVariables(t *testing.T) {
	x := newTest(t, Options{})
	for text, want := range map[string]string{
		`test -n "$MY_TOKEN"`:            `$MY_TOKEN is empty in the script, because flowrun keeps variables with such names from programs; pass_env = ["MY_TOKEN"] hands it on`,
		`test -n "${MY_TOKEN:-}"`:        `$MY_TOKEN is empty in the script, because flowrun keeps variables with such names from programs; pass_env = ["MY_TOKEN"] hands it on`,
		`test -n "$MY_TOKEN" || true`:    "",
		`test -n "$MY_TOKENS$NO_TOKEN"`:  "",
		`echo MY_TOKEN; test -n "$NONE"`: "",
	} {
		if f := do(x, script(text)); f.Warning != want {
			t.Errorf("%s: %q", text, f.Warning)
		}
	}
	a := script(`test -z "$MY_TOKEN"`)
	a.PassEnv = []string{"MY_TOKEN"}
	if f := do(x, a); f.Outcome != event.Failed || f.Warning != "" {
		t.Errorf("%s: %q", f.Outcome, f.Warning)
	}
}

// A task that no environment can hold stands in the request alone.
func TestLongTask(t *testing.T) {
	x := newTest(t, Options{})
	for name, c := range map[string]struct {
		script string
		size   int
		want   string
	}{
		"at the bound":      {`test ${#FLOWRUN_TASK} = 102400 && echo '{"n": 1}'`, taskMax, "ok exit=0"},
		"on standard input": {`test $(wc -c) -gt 102401 && echo '{"n": 1}'`, taskMax + 1, "ok exit=0"},
		"asked for":         {`echo "$FLOWRUN_TASK"`, taskMax + 1, "error blocking/start: the task has 102401 bytes"},
	} {
		a := agent(c.script)
		a.Agent.Task = strings.Repeat("x", c.size)
		if got := brief(do(x, a)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestOutputFile(t *testing.T) {
	logs := t.TempDir()
	x := newTest(t, Options{LogDir: logs})
	for name, c := range map[string]struct {
		script string
		want   string
		output any
	}{
		"written":      {`echo a=1 >> "$FLOWRUN_OUTPUT"; echo '{"b": [2]}' >> "$FLOWRUN_OUTPUT"`, "ok exit=0", map[string]any{"a": "1", "b": []any{2.0}}},
		"not written":  {"echo hello", "ok exit=0", nil},
		"it is there":  {`test -f "$FLOWRUN_OUTPUT" && test ! -s "$FLOWRUN_OUTPUT" && ls -l "$FLOWRUN_OUTPUT" | grep -q '^-rw-------'`, "ok exit=0", nil},
		"of a failure": {`echo a=1 >> "$FLOWRUN_OUTPUT"; exit 3`, "error exit=3 recoverable/exit: exit code 3", nil},
		"bad":          {`echo a >> "$FLOWRUN_OUTPUT"`, `error exit=0 blocking/bad_output: line 1 of $FLOWRUN_OUTPUT is neither NAME=VALUE nor NAME<<END nor a JSON object: "a"`, nil},
		"removed":      {`rm "$FLOWRUN_OUTPUT"`, "error exit=0 blocking/bad_output: $FLOWRUN_OUTPUT cannot be read: it is not there any more", nil},
		"a pipe":       {`rm "$FLOWRUN_OUTPUT"; mkfifo "$FLOWRUN_OUTPUT"`, "error exit=0 blocking/bad_output: $FLOWRUN_OUTPUT cannot be read: it is not a file any more", nil},
		"replaced":     {`echo a=1 > "$FLOWRUN_OUTPUT.new"; mv "$FLOWRUN_OUTPUT.new" "$FLOWRUN_OUTPUT"`, "ok exit=0", map[string]any{"a": "1"}},
		"just fits":    {`printf 'a=%1048574s' >> "$FLOWRUN_OUTPUT"`, "ok exit=0", map[string]any{"a": strings.Repeat(" ", limits.MaxOutput-2)}},
		"too large":    {`printf 'a=%1048575s' >> "$FLOWRUN_OUTPUT"`, "error exit=0 fatal/output_too_large: the file $FLOWRUN_OUTPUT has 1048577 bytes; an output may have 1048576 (1 MiB)", nil},
	} {
		a := script(c.script)
		a.OutputFile = true
		f := do(x, a)
		if d := cmp.Diff(c.output, f.Output); brief(f) != c.want || d != "" {
			t.Errorf("%s: %s %.300s", name, brief(f), d)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(logs, "*", "output-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := os.Stat(filepath.Join(logs, "r1")); err != nil {
		t.Error(err)
	}
}
