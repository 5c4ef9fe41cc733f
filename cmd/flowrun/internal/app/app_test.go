package app

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/engine/local"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, 0}, {&ended{exitNo}, 1}, {fmt.Errorf("x: %w", args.Errorf("y")), 2}, {errors.New("x"), 3}, {local.ErrReplaced, 3},
		{&panicked{"x", nil}, 3}, {&ended{exitLimit}, 5}, {&ended{process.SignalCode(syscall.SIGINT)}, exitInterrupted}, {&ended{process.SignalCode(syscall.SIGTERM)}, exitTerminated},
	} {
		if have := exitCode(c.err); have != c.code {
			t.Errorf("%v: %d, want %d", c.err, have, c.code)
		}
	}
	if refusal(diag.List{{Code: "F0201"}}) != exitNo || refusal(diag.List{{Code: "F0201"}, {Code: dsl.CodeUnreadable}}) != exitCouldNot {
		t.Error("refused files")
	}
}

// A defect of ours has one line and its code; the stack is for those who ask.
func TestAPanicIsOneLine(t *testing.T) {
	for _, debug := range []string{"", "1"} {
		var out, err bytes.Buffer
		a := &app{Streams: Streams{Stdout: &out, Stderr: &err, Environ: []string{"FLOWRUN_DEBUG=" + debug}}}
		a.openTerminals()
		if code := a.reportError(nil, &panicked{"boom", []byte("goroutine 1")}); code != exitCouldNot {
			t.Error(code)
		}
		if !strings.HasSuffix(err.String(), "flowrun: a bug in flowrun: boom\n") || strings.Contains(err.String(), "goroutine") != (debug != "") || out.Len() > 0 {
			t.Errorf("%q", err.String())
		}
	}
}

func TestAFullDiskIsNoSuccess(t *testing.T) {
	a := &app{Streams: Streams{Stdout: full{}, Stderr: full{}}}
	a.openTerminals()
	a.out.Printf("result")
	if code := a.reportError(nil, nil); code != exitCouldNot {
		t.Error(code)
	}
}

// An answer of no that could not be written is not the answer of no.
func TestALostAnswerIsNone(t *testing.T) {
	var err bytes.Buffer
	a := &app{Streams: Streams{Stdout: full{}, Stderr: &err}}
	a.openTerminals()
	a.out.Printf("result")
	if code := a.reportError(nil, &ended{exitNo}); code != exitCouldNot || !strings.Contains(err.String(), "writing the result") {
		t.Errorf("%d, %q", code, err.String())
	}
}

// Where JSON cannot be written, standard error says why.
func TestAFullDiskIsToldWhateverTheForm(t *testing.T) {
	var err bytes.Buffer
	a := &app{Streams: Streams{Stdout: full{}, Stderr: &err}}
	a.openTerminals()
	a.out.Printf("result")
	if code := a.reportError([]string{"apply", "--json"}, nil); code != exitCouldNot || !strings.Contains(err.String(), "writing the result: no space left") {
		t.Errorf("%d, %q", code, err.String())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestWantsJSON(t *testing.T) {
	for words, want := range map[string]bool{"apply x --json": true, "validate --format json": true, "validate --format=json x": true, "apply x": false, "apply -- --json": false, "validate --format": false} {
		if wantsJSON(strings.Fields(words)) != want {
			t.Error(words)
		}
	}
}

// What the command line takes is what the machine takes.
func TestParallelIsBoundedAsTheMachineIs(t *testing.T) {
	if args.MaxParallel != limits.MaxConcurrency {
		t.Errorf("--parallel takes up to %d, the machine %d", args.MaxParallel, limits.MaxConcurrency)
	}
}
