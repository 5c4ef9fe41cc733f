package runner

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/journal"
)

// definitionOf is the definition of a program of one workflow, of about so many bytes.
func definitionOf(name string, bytes int) []byte {
	p := &ir.Program{Workflows: []ir.Workflow{{Name: name}}, Files: map[string]string{"f": strings.Repeat("x", bytes)}}
	return p.Canonical()
}

func TestProgramIsLoadedOnce(t *testing.T) {
	c := new(Programs)
	load := func(definition []byte) *Program {
		t.Helper()
		p, err := c.Load("", append([]byte(nil), definition...))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := definitionOf("a", 0), definitionOf("b", 0)
	first := load(a)
	if load(b).Workflow("b") == nil || load(a) != first {
		t.Error("the definition is loaded again")
	}
	if _, err := c.Load("", []byte("{")); err == nil || len(c.byHash) != 2 {
		t.Errorf("a text that is not a program: %v; the cache holds %d programs", err, len(c.byHash))
	}
	if _, err := c.Load(ir.Hash(a)[1:]+"0", b); !errors.Is(err, journal.ErrBroken) || len(c.byHash) != 2 {
		t.Errorf("a definition with another hash than its journal says: %v", err)
	}
	g, err := first.Graph("a")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := load(a).Graph("a"); again != g {
		t.Error("the graph is built again")
	}
	if _, err := first.Graph("b"); err == nil {
		t.Error("a workflow that the program does not have")
	}
}

// Many small programs are bounded by their number, a few large ones by their bytes; the last one stays.
func TestProgramsAreBounded(t *testing.T) {
	for _, x := range []struct{ programs, bytes, want int }{
		{MaxPrograms, 10, MaxPrograms}, {MaxPrograms + 1, 10, MaxPrograms}, {9, MaxProgramBytes / 4, 3}, {2, MaxProgramBytes, 1}, {1, MaxProgramBytes + 1, 1},
	} {
		c := new(Programs)
		for i := range x.programs {
			name := fmt.Sprintf("w%d", i)
			if p, err := c.Load("", definitionOf(name, x.bytes)); err != nil || p.Workflow(name) == nil {
				t.Fatal(err)
			}
		}
		if len(c.byHash) != x.want || c.recent.Len() != x.want {
			t.Errorf("of %d programs of %d bytes the cache holds %d, want %d", x.programs, x.bytes, len(c.byHash), x.want)
		}
		last := fmt.Sprintf("w%d", x.programs-1)
		if p := c.recent.Front().Value.(*Program); p.Workflow(last) == nil {
			t.Errorf("of %d programs of %d bytes the last one is gone", x.programs, x.bytes)
		}
	}
}

// Runs of different programs load them at the same time, and all runs of one program share it.
func TestProgramsAreShared(t *testing.T) {
	c := new(Programs)
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[*Program]bool{}
	for i := range 64 {
		all.Go(func() {
			name := fmt.Sprintf("w%d", i%4)
			d := definitionOf(name, 1000)
			m, err := c.Machine(journal.Header{Behaviour: ir.Behaviour, Workflow: name, Definition: ir.Hash(d)}, d)
			p, bad := c.Load(ir.Hash(d), d)
			if err != nil || bad != nil || m == nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			seen[p] = true
		})
	}
	all.Wait()
	if len(seen) != 4 {
		t.Errorf("%d programs are in memory, want 4", len(seen))
	}
}
