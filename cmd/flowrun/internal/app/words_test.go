package app

import (
	"bytes"
	"strings"
	"testing"
)

// TestWrongWords types words that mean nothing, in a folder without a store, and looks for the way on.
func TestWrongWords(t *testing.T) {
	t.Chdir(t.TempDir())
	flowrun := func(line string) (int, string) {
		var said bytes.Buffer
		code := Main(strings.Fields(line), Streams{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said})
		return code, said.String()
	}
	check := func(line string, want int, texts ...string) {
		t.Helper()
		code, said := flowrun(line)
		for _, text := range texts {
			if code != want || !strings.Contains(said, text) {
				t.Errorf("%s ends with %d and says\n%s", line, code, said)
			}
		}
	}
	check("graph nothing", exitUsage, `no file, folder or run "nothing"`)
	check("graph none.hcl", exitCouldNot, "Cannot read none.hcl")
	check("graph latest", exitUsage, `no run "latest"`)
	check("validate none/...", exitCouldNot, "looking for programs", "none")
	check("memory consolidate --reword", exitUsage, "--reword needs --file")
	check("cancel x --wait --timeout soon", exitUsage, "a duration such as 90s or 2h is needed")
	check("test", exitUsage, "there is no test file in .", "flowrun init writes a first program with tests")
	if code, said := flowrun("init"); code != exitDone {
		t.Fatal(said)
	}
	if code, said := flowrun("apply ."); code != exitDone {
		t.Fatal(said)
	}
	check("apply", exitUsage, "an argument is missing: flowrun apply FILE|DIR", "For the program in this folder: flowrun apply .")
	check("apply cheks.flow.hcl", exitCouldNot, `Did you mean "checks.flow.hcl"?`)
	check("validate chekcs.flow.hcl", exitCouldNot, `Did you mean "checks.flow.hcl"?`)
	check("test cheks.flowtest.hcl", exitCouldNot, `there is no file or folder cheks.flowtest.hcl`, `Did you mean "checks.flowtest.hcl"?`)
	check("test checks.flow.hcl", exitUsage, "checks.flow.hcl is not a test file", "Its tests are in another file: flowrun test checks.flowtest.hcl")
	check("plan checks.flowtest.hcl", exitUsage, "checks.flowtest.hcl has tests, and no workflow", "To run the tests: flowrun test checks.flowtest.hcl")
	check("graph latest checks --format mermaid", exitDone, "conflicts")
	check("graph latest other", exitUsage, `belongs to the workflow "checks", not to "other"`)
}
