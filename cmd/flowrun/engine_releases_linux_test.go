package main_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var otherRelease = flag.String("engine.other", "", "flowrun of another release, built: it takes turns with this one; needs -engine.server")

// TestEngineReleases lets workers of two releases take turns at a run: one that this release has begun, and one of the other. A release goes on with the
// run of the other, or says why it does not and leaves the run to the release that can, which then goes on to the end: the server asks again for a refused
// decision after a minute. Each step is done once.
func TestEngineReleases(t *testing.T) {
	if *otherRelease == "" {
		t.Skip("without -engine.other")
	}
	const steps = 9
	var flow strings.Builder
	flow.WriteString("workflow \"turns\" {\n  sequence \"all\" {\n")
	for i := range steps {
		fmt.Fprintf(&flow, "    step \"s%d\" { run = \"echo begun s%[1]d $PWD >> MARKS; sleep 0.5; echo done s%[1]d $PWD >> MARKS\" }\n", i)
	}
	flow.WriteString("  }\n  output \"said\" { value = \"all ${step.all.status}\" }\n}\n")
	for _, began := range []string{"other", "this"} {
		t.Run(began+" release begins", func(t *testing.T) {
			f := newFleet(t)
			f.write("flow.hcl", strings.ReplaceAll(flow.String(), "MARKS", filepath.Join(f.dir, "marks")))
			binaries := map[string]string{"this": f.binary, "other": *otherRelease}
			as := func(release string) *fleetOf {
				own := *f
				own.binary = binaries[release]
				return &own
			}
			out, err := as(began).flowrun("apply", "flow.hcl", "--detach")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			words := strings.Fields(out)
			run := words[len(words)-1]
			turn := map[string]string{"this": "other", "other": "this"}
			release, refusals := began, 0
			for n := 0; n < 12; n++ {
				before := len(f.marks("done"))
				w := as(release).worker(release)
				var status, refusal string
				within(t, 3*time.Minute, "the run goes on, or the release says why it does not", func() bool {
					time.Sleep(200 * time.Millisecond)
					if status = as(began).statusOf(run); release != began { // the words of the other stay until this one has made a decision
						refusal = as(release).refusalOf(run)
					}
					return status == "succeeded" || refusals == 0 && len(f.marks("done")) >= before+2 || refusal != ""
				})
				w.Process.Signal(syscall.SIGTERM)
				w.Wait()
				if refusal != "" {
					refusals++
					t.Logf("the %s release refuses the run: %s", release, refusal)
				} else {
					t.Logf("the %s release goes on: %q", release, f.marks("done")[before:])
				}
				if status == "succeeded" {
					break
				}
				release = turn[release]
			}
			done, begun := f.marks("done"), f.marks("begun")
			if status := as(began).statusOf(run); status != "succeeded" {
				t.Errorf("the run is %s: %s", status, as(began).refusalOf(run))
			}
			by := map[string]bool{}
			for i := range steps {
				if step := fmt.Sprint("s", i); of(step, done) != 1 {
					t.Errorf("%s is done %d times, and has begun %d times", step, of(step, done), of(step, begun))
				}
			}
			for _, m := range done {
				_, workspace, _ := strings.Cut(m, " ")
				by[workspace] = true
			}
			if len(by) < 2 && refusals == 0 {
				t.Errorf("one release did it all: %q", done)
			}
		})
	}
}

// statusOf returns the status of a run, as a release sees it.
func (f *fleetOf) statusOf(run string) string {
	c := exec.Command(f.binary, "runs", "show", run, "--json", "--engine", f.engine)
	var info struct{ Status string }
	shown, err := c.Output()
	if err != nil || json.Unmarshal(shown, &info) != nil {
		return ""
	}
	return info.Status
}

// refusalOf returns why the workers of a release do not go on with a run; "" if they do.
func (f *fleetOf) refusalOf(run string) string {
	shown, _ := f.flowrun("runs", "show", run)
	for line := range strings.Lines(shown) {
		if strings.Contains(line, "fail at the same point") || strings.Contains(line, "newer release") || strings.Contains(line, "diverged") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
