package dsl

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
)

// Every file in testdata/ir is right, and its golden is the core program that it becomes.
func TestIR(t *testing.T) {
	paths, err := filepath.Glob("testdata/ir/*.hcl")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		p, list := Load(os.DirFS("testdata/ir"), filepath.Base(path), Options{})
		if len(list) > 0 || p.IR == nil {
			t.Errorf("%s:\n%s", path, render(list, p.Sources))
			continue
		}
		var b bytes.Buffer
		if err := json.Indent(&b, p.IR.Canonical(), "", "  "); err != nil {
			t.Fatal(err)
		}
		golden(t, strings.TrimSuffix(path, ".hcl")+".json", b.String()+"\n")
	}
}

// A for_each over a long list that a short text computes stays that text; short lists, and those that the file spells out, are constants.
func TestLongForEachStaysItsText(t *testing.T) {
	spelled := "[" + strings.Repeat("1, ", maxSpelled) + "1]"
	for text, want := range map[string]string{
		"range( 50000 )": "range(50000)",
		"range(1000)":    "",
		spelled:          "",
		"toset(split(\",\", join(\",\", range(1001))))": "toset(split(\",\", join(\",\", range(1001))))",
	} {
		p, list := Load(fstest.MapFS{"a.hcl": {Data: []byte("workflow \"w\" {\n  step \"a\" {\n    for_each = " + text + "\n    value    = each.value\n  }\n}\n")}}, "a.hcl", Options{})
		if len(list) > 0 {
			t.Fatal(render(list, p.Sources))
		}
		if e := p.IR.Workflows[0].Nodes[0].ForEach; e.Text != want || (e.Kind == ir.Const) != (want == "") {
			t.Errorf("%.40s: kind %q, text %q; want %q", text, e.Kind, e.Text, want)
		}
	}
}

// maxSpelled is the number of members up to which a computed list is a constant.
const maxSpelled = 1000

const one = "workflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n}\n"

// A folder is its *.flow.hcl files, or else its *.hcl files; tests, hidden files and folders are not part of it.
func TestFolder(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	other := strings.ReplaceAll(one, `"w"`, `"v"`)
	for _, c := range []struct {
		name string
		fs   fstest.MapFS
		path string
		want string // names of workflows, or a code
	}{
		{"all hcl", fstest.MapFS{"a.hcl": file(one), "b.hcl": file(other)}, ".", "v w"},
		{"flow.hcl alone", fstest.MapFS{"a.flow.hcl": file(one), "b.hcl": file("{")}, ".", "w"},
		{"no tests, hidden files, folders", fstest.MapFS{"a.hcl": file(one), "a.flowtest.hcl": file("{"), ".b.hcl": file("{"), "c.hcl/d.hcl": file("{"), "e.txt": file("{")}, ".", "w"},
		{"one file of several", fstest.MapFS{"d/a.hcl": file(one), "d/b.hcl": file(other)}, "d/b.hcl", "v"},
		{"names over files", fstest.MapFS{"a.hcl": file("variable \"x\" { default = 1 }\n"), "b.hcl": file("workflow \"w\" {\n  step \"a\" { value = var.x }\n}\n")}, ".", "w"},
		{"declared in two files", fstest.MapFS{"a.hcl": file(one), "b.hcl": file(one)}, ".", "F0201"},
		{"nothing", fstest.MapFS{"a.txt": file("")}, ".", "F0051"},
		{"files of another tool", fstest.MapFS{"a.hcl": file("resource \"r\" \"s\" {\n}\n"), "b.hcl": file("locals {\n  a = 1\n}\n")}, ".", "F0051"},
		{"a broken file of another tool", fstest.MapFS{"a.hcl": file("job \"x\" {\n  group=\n")}, ".", "F0051"},
		{"a file of another tool that is named", fstest.MapFS{"a.hcl": file("resource \"r\" \"s\" {\n}\n")}, "a.hcl", "F0102"},
		{"a file of another tool beside ours", fstest.MapFS{"a.hcl": file("resource \"r\" \"s\" {\n}\n"), "b.hcl": file(one)}, ".", "F0102"},
		{"a broken file of ours", fstest.MapFS{"a.hcl": file("workflow \"x\" {\n")}, ".", "F0022"},
		{"missing", fstest.MapFS{}, "x.hcl", "F0050"},
		{"no workflow", fstest.MapFS{"a.flow.hcl": file("locals { a = 1 }\n")}, ".", "F0052"},
		{"syntax in one", fstest.MapFS{"a.hcl": file(one), "b.hcl": file("a = [")}, ".", "F0030"},
	} {
		p, list := Load(c.fs, c.path, Options{Name: func(p string) string { return "shown/" + p }})
		got := ""
		if p.IR != nil {
			var names []string
			for _, w := range p.IR.Workflows {
				names = append(names, w.Name)
			}
			got = strings.Join(names, " ")
		} else if len(list) > 0 {
			got = list[0].Code
			if !strings.HasPrefix(list[0].Subject.File, "shown/") {
				t.Errorf("%s: file is shown as %q", c.name, list[0].Subject.File)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s\n%s", c.name, got, c.want, render(list, p.Sources))
		}
	}
}

// A name that the file beside declares is said to be there.
func TestSibling(t *testing.T) {
	fsys := fstest.MapFS{
		"d/a.hcl": {Data: []byte("workflow \"w\" {\n  step \"a\" { agent = agent.dev }\n  step \"b\" { value = var.limit + local.half }\n}\n")},
		"d/b.hcl": {Data: []byte("agent \"dev\" { type = \"null\" }\nvariable \"limit\" { default = 1 }\nlocals { half = 2 }\n")},
	}
	p, list := Load(fsys, "d/a.hcl", Options{})
	if len(list) != 3 {
		t.Fatal(render(list, p.Sources))
	}
	for _, d := range list {
		if !strings.Contains(d.Detail, "declared in d/b.hcl") {
			t.Errorf("%s: %s", d.Summary, d.Detail)
		}
	}
	if p, list := Load(fsys, "d", Options{}); p.IR == nil {
		t.Error(render(list, p.Sources))
	}
}

func TestPositions(t *testing.T) {
	p, list := Load(fstest.MapFS{"w.hcl": {Data: []byte("variable \"v\" { default = 1 }\nworkflow \"w\" {\n  input \"i\" { default = 1 }\n  parallel \"p\" {\n    step \"a\" {\n      run  = [\"true\"]\n      when = \"true\"\n    }\n  }\n  output \"o\" { value = 1 }\n}\n")}}, "w.hcl", Options{})
	if p.IR == nil {
		t.Fatal(list)
	}
	for key, want := range map[string]string{"var.v": "w.hcl:1:1", "w": "w.hcl:2:1", "w/input.i": "w.hcl:3:3", "w/p": "w.hcl:4:3", "w/a": "w.hcl:5:5", "w/a/when": "w.hcl:7:7", "w/output.o": "w.hcl:10:3"} {
		if got := p.Positions[key].String(); got != want {
			t.Errorf("%s at %s, want %s", key, got, want)
		}
	}
}

// cpu is the processor time that this process has used, which a busy machine stretches little.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// groups makes n groups with a condition, each with two nodes that read each other.
func groups(n int) string {
	var b strings.Builder
	for i := range n {
		s := strconv.Itoa(i)
		b.WriteString("  sequence \"g" + s + "\" {\n    when = \"true\"\n    step \"a" + s + "\" { value = 1 }\n    step \"b" + s + "\" { value = step.a" + s + ".output + 1 }\n  }\n")
	}
	return b.String()
}

// Whatever attribute takes a condition: without its quotes it is shown with them.
func TestUnquotedConditionsOfEveryBlock(t *testing.T) {
	for kind, b := range schema.Blocks { // any order: each for itself
		for _, a := range b.Attrs {
			if a.Kind != schema.Condition && a.Kind != schema.Join {
				continue
			}
			_, list := Load(fstest.MapFS{"x.hcl": {Data: []byte("x {\n  " + a.Name + " = local.a = 1\n}\n")}}, "x.hcl", Options{})
			if len(list) != 1 || list[0].Summary != "A condition is a text in quotes" {
				t.Errorf("%s.%s: %v", kind, a.Name, list)
			}
		}
	}
}

// What reads a node in rounds is written in the quotes of its place: a condition, an expression, a text.
func TestNamesInRounds(t *testing.T) {
	src := `workflow "w" {
  sequence "s" {
    step "a-b" { run = "true" }
    step "ok-2" {
      approve {
        prompt = "Good?"
        revise = step.a-b
      }
    }
  }
  step "c" {
    depends_on = [step.s]
    when       = "step['a-b'].output == '' || step.a-b.output == ''"
    run        = "echo ${step["a-b"].output}"
    env        = { X = step.a-b.output, Y = "${step.a-b.output}" }
    stdin      = <<EOT
${step.a-b.output}
EOT
  }
}
`
	p, list := Load(fstest.MapFS{"a.hcl": {Data: []byte(src)}}, "a.hcl", Options{})
	if len(list) > 0 {
		t.Fatal(render(list, p.Sources))
	}
	if got := strings.Count(string(p.IR.Canonical()), "ok-2_rounds"); got < 6 {
		t.Errorf("the rounds are named %d times", got)
	}
}
