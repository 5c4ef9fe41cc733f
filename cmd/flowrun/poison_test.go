package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var bystanders = flag.Int("crash.bystanders", 5, "how many runs go on beside a poisonous one")

// TestPoison has three processes die over the same attempt: the fourth gives that up, and its run ends. Runs over which one
// process died go on, in the same store.
//
// The whole: go test ./cmd/flowrun -run TestPoison -crash.bystanders=99 -v
func TestPoison(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	s := newHolding(t, mortalBinary(t), 1)
	die := func(words ...string) (run string) {
		p, n := s.start(t, "", words...), len(s.lines(t))
		s.begun(t, n+1)
		p.Process.Kill()
		p.wait(t)
		return strings.Fields(s.lines(t)[n])[0]
	}
	var others []string
	for range *bystanders {
		others = append(others, die("apply", "w.flow.hcl"))
	}
	bad := die("apply", "w.flow.hcl")
	for range 2 {
		die("resume", bad)
	}
	before := len(s.lines(t))
	p := s.start(t, "", "resume", bad)
	if w := p.wait(t); w.ExitStatus() != 1 || !strings.Contains(said(t, p.err), "3 drivers in a row died while this attempt was in flight") {
		t.Errorf("after three deaths resume ends with %d\n%s", w.ExitStatus(), said(t, p.err))
	}
	if n := len(s.lines(t)); n != before {
		t.Error("the attempt was made once more")
	}
	if out, err := s.command("", "runs", "show", bad, "--json").Output(); err != nil || !strings.Contains(string(out), `"poison"`) {
		t.Errorf("runs show: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, run := range others {
		if out, err := s.command("", "resume", run).CombinedOutput(); err != nil {
			t.Errorf("resume %s: %v\n%s", run, err, out)
		}
	}
	for id, n := range s.keys(t) { // any order
		if n != 2 && !strings.HasPrefix(id, bad) {
			t.Errorf("%q was made %d times, and one process died over it", id, n)
		}
	}
	t.Logf("%d of %d runs went on", *bystanders, *bystanders+1)
}
