package flowtest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/disk"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner/flowtest"
)

// Every example, workflow, pattern and construct has tests, and they hold. Those of patterns and constructs say crash_everywhere: with a crash
// of the driver at any point they end alike.
func TestCorpus(t *testing.T) {
	tests, crashes := 0, 0
	for _, folder := range []string{"examples/...", "workflows/...", "testdata/patterns", "testdata/constructs"} {
		files, err := disk.Tests([]string{filepath.Join("../..", folder)})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			loaded, list := dsl.LoadTests(os.DirFS(filepath.Dir(file)), filepath.Base(file), dsl.Options{})
			if list.HasErrors() {
				t.Errorf("%s: %v", file, list)
				continue
			}
			p := flowtest.NewProgram(loaded.IR)
			for i := range loaded.Tests {
				r := flowtest.Run(context.Background(), p, &loaded.Tests[i])
				if !r.Passed() {
					t.Errorf("%s: %s: %+v", file, r.Test.Name, r.Failures)
				}
				if strings.HasPrefix(folder, "testdata/") && !r.Test.CrashEverywhere {
					t.Errorf("%s: %s: crash_everywhere is %v", file, r.Test.Name, r.Test.CrashEverywhere)
				}
				tests, crashes = tests+1, crashes+r.Crashes
			}
		}
	}
	programs := 0
	for _, pattern := range []string{"testdata/patterns", "testdata/constructs", "workflows/*"} {
		found, err := filepath.Glob("../../" + pattern + "/*.hcl")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if !dsl.IsTest(name) {
				programs++
			}
		}
	}
	if t.Logf("%d tests, %d crashes", tests, crashes); tests < programs || crashes < 800 {
		t.Errorf("%d tests of %d programs, with %d crashes", tests, programs, crashes)
	}
}
