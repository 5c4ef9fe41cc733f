package runner

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// lookedUp is a host whose run "run" was called by the run "root". It calls a function when somebody asks for a run.
type lookedUp struct {
	engine.Reader
	asked func()
}

func (h lookedUp) Get(_ context.Context, run string) (engine.Info, error) {
	h.asked()
	info := engine.Info{Run: run, Status: event.Running}
	if run == "run" {
		info.Parent = "root"
	}
	return info, nil
}

func (s *Service) treeOf(run string) *tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trees[run]
}

// A drive that begins while the last one leaves its tree gets a tree that the service knows.
func TestDriveEntersATreeThatIsLeft(t *testing.T) {
	s := New(Options{})
	s.Reader = lookedUp{asked: func() {}}
	first, err := s.beginDrive(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	first.opening.Lock() // the tree is dropped only after the second drive has begun
	left := make(chan bool)
	go func() { s.leaveDrive(first, "run", false); close(left) }()
	for due := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		driven := len(first.driven)
		s.mu.Unlock()
		if driven == 0 {
			break
		}
		if time.Now().After(due) {
			t.Fatal("the first drive never leaves")
		}
	}
	second, err := s.beginDrive(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	first.opening.Unlock()
	<-left
	if have := s.treeOf("run"); have != second {
		t.Errorf("the tree of the run is %p, and the drive has tree %p", have, second)
	}
}

// A drive takes the tree that somebody makes for its run while the drive looks for one.
func TestDriveTakesATreeThatWasMadeMeanwhile(t *testing.T) {
	s := New(Options{})
	made := &tree{root: "run", runs: map[string]bool{"run": true}}
	s.Reader = lookedUp{asked: sync.OnceFunc(func() { s.replaceTree(made) })}
	s.trees["root"] = &tree{root: "root", runs: map[string]bool{"root": true}}
	got, err := s.beginDrive(t.Context(), "run")
	if err != nil || got != made || s.treeOf("run") != made {
		t.Errorf("the drive has tree %+v, %v; the service has %+v", got, err, s.treeOf("run"))
	}
}
