package importer

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/format"
	"github.com/flowrun/flowrun/dsl/ir"
)

var update = flag.Bool("update", false, "write what is imported into testdata/*.golden")

// refused are the files whose programs the checker refuses, with the code that says why: a value would become code of another program there.
var refused = map[string]string{
	"taskfile/go-project.yml": "F0240", // go -ldflags
	"taskfile/python.yml":     "F0239", // words of the command line as a file to run
	"github/release.yml":      "F0250", // curl
	"github/quoting.yml":      "F0240", // jq
}

func samples(t testing.TB, f Format) []txtar.File {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", string(f)+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return a.Files
}

// TestFiles imports files as people write them. The program of each is what its golden says, and all but a few validate.
func TestFiles(t *testing.T) {
	for _, f := range Formats {
		t.Run(string(f), func(t *testing.T) {
			golden := &txtar.Archive{}
			files, valid := samples(t, f), 0
			for _, file := range files {
				r, err := Import(file.Name, file.Data, "")
				if err != nil {
					t.Errorf("%s: %v", file.Name, err)
					continue
				}
				if r.Format != f {
					t.Errorf("%s was taken for %s", file.Name, r.Format)
				}
				again, list := format.Format("x.flow.hcl", r.HCL)
				if list.HasErrors() || !bytes.Equal(again, r.HCL) {
					t.Errorf("%s: formatting changes the program again: %v", file.Name, list)
				}
				for _, n := range r.Notes {
					if n == "" || strings.ContainsAny(n, "\n") {
						t.Errorf("%s: the note %q", file.Name, n)
					}
				}
				text := append(slices.Clone(r.HCL), "\n# Notes:\n"...)
				for _, n := range r.Notes {
					text = append(text, "# "+n+"\n"...)
				}
				golden.Files = append(golden.Files, txtar.File{Name: file.Name, Data: text})
				_, found := dsl.Check(fstest.MapFS{"x.flow.hcl": {Data: r.HCL}}, "x.flow.hcl", dsl.Options{})
				code := ""
				for _, d := range found {
					if d.Severity.String() == "error" && code == "" {
						code = d.Code
					}
				}
				if code == "" {
					valid++
				}
				if want := refused[string(f)+"/"+file.Name]; code != want {
					t.Errorf("%s: the first error is %q, want %q", file.Name, code, want)
				}
			}
			if len(files) < 30 || valid*10 < len(files)*9 {
				t.Errorf("%d of %d files validate", valid, len(files))
			}
			t.Logf("%d of %d files validate", valid, len(files))
			name := filepath.Join("testdata", string(f)+".golden")
			if *update {
				if err := os.WriteFile(name, txtar.Format(golden), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range golden.Files {
				if i >= len(want.Files) || want.Files[i].Name != g.Name || !bytes.Equal(want.Files[i].Data, g.Data) {
					t.Fatalf("%s differs from its golden:\n%s", g.Name, g.Data)
				}
			}
		})
	}
}

// TestNothingBreaksIt imports files in which bytes are changed, cut and doubled: there is a program that can be formatted, or an error.
func TestNothingBreaksIt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	made := 0
	for _, f := range Formats {
		files := samples(t, f)
		for i := range 1500 {
			data := slices.Clone(files[i%len(files)].Data)
			for range 1 + r.IntN(3) {
				if len(data) == 0 {
					break
				}
				at := r.IntN(len(data))
				end := min(len(data), at+r.IntN(20))
				switch r.IntN(4) {
				case 0:
					data[at] = byte(r.IntN(256))
				case 1:
					data = slices.Delete(data, at, end)
				case 2:
					data = slices.Insert(data, at, slices.Clone(data[at:end])...)
				case 3:
					data = slices.Insert(data, at, []byte([]string{"${", "%{", "\"", "'", "{{", "}}", "\\", "\x00", "EOT\n", ": null", "*x", "[]", "{}", "é"}[r.IntN(14)])...)
				}
			}
			if got, err := Import("x.yml", data, f); err == nil {
				made++
				if len(got.HCL) == 0 {
					t.Fatalf("nothing is made of\n%s", data)
				}
			} else if strings.Contains(err.Error(), "F0") || strings.Contains(err.Error(), "never closed") || strings.Contains(err.Error(), "without its end") {
				t.Fatalf("%v: the program of this file cannot be read:\n%s", err, data)
			}
		}
	}
	t.Logf("%d programs", made)
	if made < 1000 {
		t.Errorf("only %d of 6,000 files could be read", made)
	}
}

// TestBounds holds files back that would take long.
func TestBounds(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	for name, c := range map[string]struct{ src, want string }{
		"aliases": {bomb + "jobs: {a: {steps: [{run: *a9}]}}", "values with those of its aliases"},
		"deep":    {"jobs: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "nested deeper"},
		"circle":  {"a: &a [*a]\njobs: {}", "alias"},
		"large":   {strings.Repeat(" ", MaxBytes+1), "at most that many are read"},
		"empty":   {"", "empty"},
		"list":    {"- a", "not an object"},
		"other":   {"hello: world", "does not tell"},
		"no work": {"jobs: {}", "no jobs"},
		"broken":  {"a: [", "line"},
		"spaces":  {"jobs:\n  a:\n    steps:\n      - run: \"\"\n", ""},
	} {
		_, err := Import("x.yml", []byte(c.src), "")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestTexts compares scripts with what HCL reads of them.
func TestTexts(t *testing.T) {
	for _, s := range []string{"a", "a\nb", "a\n\n  b\n\tc ${x} %{y} \"q\" \\n", "EOT\nEOT_\n", "$${x}\nb", "a\\\n  b", "x'y", "é\nü"} {
		p := &program{name: "x"}
		w := p.workflow("w")
		b := w.node("step", "a")
		b.set("value", literal(s).script())
		w.nodes = append(w.nodes, b)
		src, list := format.Format("x.flow.hcl", []byte(p.print()))
		if list.HasErrors() {
			t.Fatalf("%q: %v\n%s", s, list, p.print())
		}
		loaded, found := dsl.Load(fstest.MapFS{"x.flow.hcl": {Data: src}}, "x.flow.hcl", dsl.Options{})
		if found.HasErrors() {
			t.Fatalf("%q: %v\n%s", s, found, src)
		}
		got, _ := loaded.IR.Workflows[0].Nodes[0].Action.(*ir.Value).Const.(string)
		if strings.TrimRight(got, "\n") != strings.TrimRight(s, "\n") {
			t.Errorf("%q became %q\n%s", s, got, src)
		}
	}
}
