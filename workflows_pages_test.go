package flowrun_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/view/graph"
	"github.com/flowrun/flowrun/workflows"
)

var update = flag.Bool("update", false, "write the pages and pictures of the library")

// Each workflow of the library has a page: the comment at the top of its file, a picture of each of its workflows, how it is started, the
// lines to change, and the names of its tests. -update writes the pages.
func TestLibraryPages(t *testing.T) {
	for _, template := range workflows.All() {
		name := template.Name
		t.Run(name, func(t *testing.T) {
			for file, want := range libraryPage(t, name) {
				file = path.Join("workflows", name, file)
				if *update {
					if err := os.WriteFile(file, want, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s is not what its program says (%v); go test . -run TestLibraryPages -update writes it", file, err)
				}
			}
		})
	}
}

// libraryPage is the page of a template with its pictures, by the names of the files.
func libraryPage(t *testing.T, name string) map[string][]byte {
	t.Helper()
	program, list := dsl.Load(os.DirFS("workflows/"+name), name+".flow.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	files := map[string][]byte{}
	var page bytes.Buffer
	source := strings.Split(string(program.Sources[name+".flow.hcl"]), "\n")
	fmt.Fprintf(&page, "<!-- go test . -run TestLibraryPages -update writes this page. -->\n\n# %s\n\n", strings.ToUpper(name[:1])+strings.ReplaceAll(name[1:], "-", " "))
	for _, line := range source {
		if !strings.HasPrefix(line, "#") {
			break
		}
		text := strings.TrimPrefix(strings.TrimPrefix(line, "#"), " ")
		if strings.HasPrefix(text, "  ") { // a command
			text = "    " + strings.TrimSpace(text)
		}
		fmt.Fprintln(&page, text)
	}
	drawn := slices.Clone(program.IR.Workflows)
	slices.SortStableFunc(drawn, func(a, b ir.Workflow) int { // the default first
		switch {
		case a.Default == b.Default:
			return 0
		case a.Default:
			return -1
		}
		return 1
	})
	for i := range drawn {
		w := &drawn[i]
		picture, err := graph.Of(w).SVG()
		if err != nil {
			t.Fatal(err)
		}
		files[w.Name+".svg"] = picture
		fmt.Fprintf(&page, "\n![workflow %s](%s.svg)\n", w.Name, w.Name)
	}
	fmt.Fprintf(&page, "\n```sh\nflowrun init --template %[1]s   # writes %[1]s.flow.hcl, its tests%[2]s\nflowrun apply %[1]s.flow.hcl\nflowrun test\n```\n", name, standins(name))
	var change []string
	for n, line := range source {
		if strings.Contains(line, `"`+workflows.Standin) {
			change = append(change, fmt.Sprintf("| %d | `%s` |\n", n+1, strings.TrimSpace(line)))
		}
	}
	if len(change) > 0 {
		fmt.Fprintf(&page, "\nPut your own commands into these lines of [%[1]s.flow.hcl](%[1]s.flow.hcl). `flowrun explain protocol` says what an agent reads and writes.\n\n| line | |\n|--:|---|\n%[2]s", name, strings.Join(change, ""))
	}
	tests, err := os.ReadFile(path.Join("workflows", name, name+".flowtest.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&page, "\n[%[1]s.flowtest.hcl](%[1]s.flowtest.hcl) shows that:\n\n", name)
	for _, test := range regexp.MustCompile(`(?m)^test "(.*)" \{`).FindAllStringSubmatch(string(tests), -1) {
		fmt.Fprintf(&page, "- %s\n", strings.ReplaceAll(test[1], `\"`, `"`))
	}
	files["README.md"] = page.Bytes()
	return files
}

// standins says that a template has scripts that stand in for agents.
func standins(name string) string {
	for _, f := range workflows.Files(name) {
		if strings.HasPrefix(f.Name, "agents/") {
			return ", and stand-ins for its agents"
		}
	}
	return ""
}
