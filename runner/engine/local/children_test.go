package local

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// More children than are driven at once wait for their turn; a cancel ends those that run, and the others never begin.
func TestChildrenWaitForTheirTurn(t *testing.T) {
	const more = 10
	p := enginetest.Program{Workflows: map[string]enginetest.Program{"child": {Tasks: []enginetest.Task{{Name: "w", Wait: 1e18}}}}}
	for i := range MaxChildren + more {
		p.Tasks = append(p.Tasks, enginetest.Task{Name: fmt.Sprintf("c%d", i), Call: "child"})
	}
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run := begin(t, e, p)
	done := make(chan error, 1)
	go func() {
		end, err := e.Drive(context.Background(), run, nil)
		if err == nil && end.Status != event.Cancelled {
			err = fmt.Errorf("it ended %s", end.Status)
		}
		done <- err
	}()
	driven := func() int { return len(e.listDrives()) - 1 }
	for due := time.Now().Add(2 * time.Minute); driven() < MaxChildren && time.Now().Before(due); {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // for one too many
	if n := driven(); n != MaxChildren {
		t.Errorf("%d children are driven at once, want %d", n, MaxChildren)
	}
	if err := e.Cancel(context.Background(), run, "enough"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	list, err := e.List(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	children := 0
	for _, i := range list {
		if i.Parent != "" {
			children++
			if i.Parent != run || i.ParentNode == "" || i.Status != event.Cancelled {
				t.Errorf("%+v", i)
			}
		}
	}
	if children != MaxChildren {
		t.Errorf("%d children were made, want %d", children, MaxChildren)
	}
	if latest, err := e.Find(context.Background(), "latest"); err != nil || latest.Run != run {
		t.Errorf("the latest run is %+v, %v", latest, err)
	}
}
