package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/flowtest"
)

// testPatience is how much real time one test may take.
const testPatience = 10 * time.Second

// testWatchPause is how long --watch waits between two looks at the files.
const testWatchPause = 300 * time.Millisecond

func (a *app) newTestCommand() *cobra.Command {
	var t args.Test
	c := &cobra.Command{
		Use: "test [PATH...]", Short: "Test workflows in virtual time; no process starts",
		Long: `test runs the tests of files NAME.flowtest.hcl: of a file, or of a folder; DIR/... means every folder below DIR. Without a path
it runs the tests of the current folder. A test file is in the folder of its program. Each test runs a workflow, or a loop, in virtual time, and
the stubs of the test answer in place of agents, programs, requests and sources: no process starts, and weeks take milliseconds.

--format FORMAT sets the form of the results on the screen, --format FORMAT=PATH writes them to a file; it can be repeated.
Under GitHub Actions the default on the screen is github.

The exit code is 1 if a test fails, or if a test file or its program is refused.`,
		RunE: func(_ *cobra.Command, words []string) error {
			if t.Paths = words; len(words) == 0 {
				t.Paths = []string{"."}
			}
			usual := "text"
			if a.getenv("GITHUB_ACTIONS") == "true" {
				usual = "github"
			}
			forms, err := t.Forms(usual)
			if err == nil {
				err = t.Check()
			}
			if err != nil {
				return err
			}
			process.CollectTests(a.getenv)
			if t.Watch {
				return a.watchTests(&t, forms)
			}
			return a.runTest(&t, forms, nil)
		},
	}
	c.Flags().StringVar(&t.Run, "run", "", "run only the tests whose names match a `regular expression`")
	c.Flags().StringArrayVar(&t.Formats, "format", nil, "print the results as `FORMAT`, or write them with FORMAT=PATH: "+strings.Join(args.TestFormats, ", "))
	c.Flags().BoolVar(&t.Coverage, "coverage", false, "name the nodes, cases, gates and levels, and the sources and agents of loops, that no test reached")
	c.Flags().BoolVar(&t.Watch, "watch", false, "run the tests again when an *.hcl file beside them, or a file that file() reads, changes, until Ctrl-C")
	return c
}

// watchTests runs the tests now, and again after each change of a file that they depend on. It ends with the process. If the
// first round finds no test, that is an error; later it can be the moment in which an editor writes a file.
func (a *app) watchTests(t *args.Test, forms []args.Form) error {
	for first := true; ; first = false {
		before, texts := stateOfTests(t), testTexts{}
		if err := a.runTest(t, forms, texts); err != nil && !errors.As(err, new(*ended)) {
			if first {
				return err
			}
			a.err.Printf("flowrun: %s\n", ui.CleanLines(err.Error()))
		}
		a.err.Printf("Waiting for a change; Ctrl-C ends it.\n")
		for stateOfTests(t) == before && !texts.changed() {
			time.Sleep(testWatchPause)
		}
	}
}

// stateOfTests tells the files *.hcl in the folders of tests apart from those before a change.
func stateOfTests(t *args.Test) string {
	files, _ := disk.Tests(t.Paths)
	var dirs []string
	for _, f := range files {
		dirs = append(dirs, filepath.Dir(f))
	}
	slices.Sort(dirs)
	var b strings.Builder
	for _, dir := range slices.Compact(dirs) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".hcl") {
				b.WriteString(filepath.Join(dir, e.Name()) + " " + info.ModTime().String() + "\n")
			}
		}
	}
	return b.String()
}

// testTexts are the files that file() has looked for, with their states at that time.
type testTexts map[testTextFile]string

// testTextFile is a file of a repository.
type testTextFile struct {
	root fs.FS // comparable
	name string
}

// state tells a file apart from that before a change.
func (f testTextFile) state() string {
	info, err := fs.Stat(f.root, f.name)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(info.ModTime(), info.Size())
}

func (r testTexts) changed() bool {
	for f, was := range r { // any order: one is enough
		if f.state() != was {
			return true
		}
	}
	return false
}

// testTextFS notes which files are looked for.
type testTextFS struct {
	fs.FS
	read testTexts
}

// Stat implements fs.StatFS. Each file is looked at before it is opened.
func (f testTextFS) Stat(name string) (fs.FileInfo, error) {
	file := testTextFile{f.FS, name}
	if _, known := f.read[file]; !known {
		f.read[file] = file.state()
	}
	return fs.Stat(f.FS, name)
}

// testRun is one run of all tests.
type testRun struct {
	*app
	*args.Test
	texts    testTexts // nil: nobody watches them
	report   *ui.TestReport
	list     diag.List
	coverage map[string]*flowtest.Coverage // by the path of a program
}

// runTest runs the tests of all files, and prints their results. It notes in texts what file() reads, unless that is nil.
func (a *app) runTest(t *args.Test, forms []args.Form, texts testTexts) error {
	files, err := findTests(t.Paths)
	if err != nil {
		return err
	}
	r := &testRun{app: a, Test: t, report: &ui.TestReport{Sources: ui.Sources{}, Base: baseOf(), Covered: t.Coverage}, coverage: map[string]*flowtest.Coverage{}, texts: texts}
	began := time.Now()
	r.files(files)
	r.report.Took = time.Since(began)
	if list := r.list.Sort(); list.HasErrors() {
		refused := &ui.Report{List: list, Sources: r.report.Sources, Release: thisVersion().Release, Unread: refusal(list) == exitCouldNot, Base: baseOf(), Rule: ruleOf}
		for _, f := range forms {
			if err := a.writeReport(refused, f); err != nil {
				return err
			}
		}
		return &ended{refusal(list)}
	} else if len(list) > 0 {
		ui.Diagnostics(a.err, list, r.report.Sources)
	}
	if r.report.Tests() == 0 {
		return &args.Error{Message: "no test was run", Hint: noTestHint(t.Run)}
	}
	for _, f := range forms {
		switch {
		case f.Path != "":
			err = reportTo(f.Path, func(w io.Writer) error { return r.report.Write(w, f.Format) })
		case f.Format == "text":
			r.report.Text(a.out)
		default:
			err = r.report.Write(a.out, f.Format)
		}
		if err != nil {
			return err
		}
	}
	if r.report.Failed() > 0 {
		return &ended{exitNo}
	}
	return nil
}

func noTestHint(pattern string) string {
	if pattern != "" {
		return "No name of a test matches --run " + ui.Quote(pattern) + "."
	}
	return `A test file has blocks  test "NAME" { … }.`
}

// testedFile is a file with what its tests came to.
type testedFile struct {
	name  string
	fsys  fs.FS
	inDir string // its name in its folder
	opts  dsl.Options
	tests *dsl.Tests
	list  diag.List
	out   ui.TestFile
}

// files runs the wanted tests of files: as many folders at once as there are processors, and the files of a folder in their order. Where
// somebody watches what file() reads, one folder at once.
func (r *testRun) files(names []string) {
	all, folders := make([]testedFile, len(names)), map[string][]*testedFile{}
	var order []string
	for i, name := range names {
		f := &all[i]
		f.name = name
		f.fsys, f.inDir, f.opts = r.openFolder(name)
		dir := filepath.Dir(name)
		if r.texts != nil && f.opts.Root != nil {
			f.opts.Root = testTextFS{f.opts.Root, r.texts}
		}
		if folders[dir] == nil {
			order = append(order, dir)
		}
		folders[dir] = append(folders[dir], f)
	}
	workers := runtime.GOMAXPROCS(0)
	if r.texts != nil {
		workers = 1
	}
	next, wait := make(chan string), sync.WaitGroup{}
	for range min(workers, len(order)) {
		wait.Go(func() {
			for dir := range next {
				reader := dsl.NewTestReader(folders[dir][0].fsys, folders[dir][0].opts)
				for _, f := range folders[dir] {
					r.file(f, reader)
				}
			}
		})
	}
	for _, dir := range order {
		next <- dir
	}
	close(next)
	wait.Wait()
	for i := range all {
		r.take(&all[i])
	}
}

// file runs the wanted tests of a file.
func (r *testRun) file(f *testedFile, reader *dsl.TestReader) {
	if f.tests, f.list = reader.Load(f.inDir); f.list.HasErrors() {
		return
	}
	p := flowtest.NewProgram(f.tests.IR)
	f.out.Name = ui.Clean(f.name)
	for i := range f.tests.Tests {
		if r.Wanted(f.tests.Tests[i].Name) {
			f.out.Results = append(f.out.Results, runOneTest(p, &f.tests.Tests[i]))
		}
	}
}

// take adds a file to the report.
func (r *testRun) take(f *testedFile) {
	for name, text := range f.tests.Sources { // any order: it fills a map
		r.report.Sources[name] = text
	}
	if r.list = append(r.list, f.list...); f.list.HasErrors() {
		return
	}
	path := filepath.Join(filepath.Dir(f.name), filepath.FromSlash(f.tests.Path))
	covered := r.coverage[path]
	if covered == nil {
		covered = flowtest.NewCoverage(f.tests.IR)
		r.coverage[path] = covered
		r.report.Coverage = append(r.report.Coverage, ui.TestCoverage{Coverage: covered, Program: ui.Clean(path), Places: f.tests.Positions})
	}
	for _, result := range f.out.Results {
		covered.Add(result)
	}
	r.report.Files = append(r.report.Files, f.out)
}

func runOneTest(p *flowtest.Program, t *ir.Test) *flowtest.Result {
	ctx, stop := context.WithTimeoutCause(context.Background(), testPatience, flowtest.ErrTooLong)
	defer stop()
	return flowtest.Run(ctx, p, t)
}

// findTests lists the test files that paths mean.
func findTests(paths []string) ([]string, error) {
	if slices.Contains(paths, "") {
		return nil, emptyPath()
	}
	files, err := disk.Tests(paths)
	if none := new(disk.NoTests); errors.As(err, &none) {
		hint := "Tests are in files NAME" + dsl.TestSuffix + " beside the program."
		own := strings.TrimSuffix(strings.TrimSuffix(none.Path, ".hcl"), ".flow") + dsl.TestSuffix
		if _, err := os.Stat(own); none.File && err == nil {
			hint = "Its tests are in another file: flowrun test " + ui.Quote(own)
		} else if !none.File {
			hint += " DIR/... means every folder below DIR."
			if program, _, _ := dsl.Own(disk.Open(none.Path, dsl.Options{})); len(program) == 0 {
				hint += " flowrun init writes a first program with tests."
			}
		}
		return nil, &args.Error{Message: ui.Clean(none.Error()), Hint: hint}
	}
	if missing := new(fs.PathError); errors.As(err, &missing) && errors.Is(err, fs.ErrNotExist) {
		near := nearestFile(missing.Path)
		if near != "" {
			near = fmt.Sprintf("\nDid you mean %q?", near)
		}
		return nil, fmt.Errorf("there is no file or folder %s%s", ui.Clean(missing.Path), near)
	}
	return files, err
}
