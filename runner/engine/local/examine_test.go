package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/journal"
)

// TestExamine looks at a store with a damaged old run: it is found when so far back is looked, and while another is driven.
func TestExamine(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	old := begin(t, e, enginetest.Chain(5))
	if _, err := e.Drive(context.Background(), old, nil); err != nil {
		t.Fatal(err)
	}
	s.Advance(1)
	begin(t, e, enginetest.Chain(300))
	alter(t, s.dir, "UPDATE batches SET digest = digest + 1 WHERE first = 4 AND run = 1")
	dead := filepath.Join(s.dir, driversDir, "77.lock")
	if err := os.WriteFile(dead, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reader := s.open(t, Options{ReadOnly: true})
	for newest, broken := range map[int]int{1: 0, 2: 1, 0: 1} {
		h, err := reader.Examine(context.Background(), newest)
		if err != nil || h.Runs != 2 || len(h.Broken) != broken || h.Database != "" || h.Reserve.Made || len(h.Dead) != 1 || h.Dead[0] != 77 {
			t.Errorf("the newest %d: %+v, %v", newest, h, err)
		}
		for _, b := range h.Broken {
			if b.Run != old || !errors.Is(b.Err, journal.ErrBroken) {
				t.Errorf("broken is %+v", b)
			}
		}
	}
}

// TestExamineWhileDriven looks again and again at a run that grows: its mark is never taken for being ahead.
func TestExamineWhileDriven(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	run := begin(t, e, enginetest.Chain(200))
	done := make(chan error, 1)
	go func() { _, err := e.Drive(context.Background(), run, nil); done <- err }()
	reader := s.open(t, Options{ReadOnly: true})
	for looks := 0; ; looks++ {
		h, err := reader.Examine(context.Background(), 0)
		if err != nil || len(h.Broken) != 0 {
			t.Fatalf("look %d: %+v, %v", looks, h, err)
		}
		select {
		case err := <-done:
			if err != nil || looks == 0 {
				t.Errorf("%d looks while it was driven, %v", looks, err)
			}
			return
		default:
		}
	}
}
