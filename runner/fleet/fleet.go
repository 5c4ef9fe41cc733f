// Package fleet joins the host on Temporal with programs and executors: a client starts runs and follows them, a worker drives them and carries
// out their attempts.
//
// It is the one place outside of tests that imports this host. It knows no command line and no screen. Enter at [Dial].
package fleet

import (
	"context"
	"os"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/standalone"
)

// Root stands for the workspace of whatever worker carries an attempt out: it is the folder of a program in the first event of a run.
const Root = work.Root

// Fleet is a connection to a server. It must be closed.
type Fleet struct {
	*temporal.Host
	programs *runner.Programs
}

// Check refuses an address that is none.
func Check(address string) error {
	_, err := temporal.Parse(address)
	return err
}

// Refuse returns an error that says why a run cannot be carried, or nil. It needs no server.
func Refuse(p *ir.Program, workflow string, first *event.RunStarted) error {
	return temporal.Refuse(p, workflow, first)
}

// Dial connects to the server of an address, temporal://HOST:PORT/NAMESPACE.
func Dial(ctx context.Context, address string) (*Fleet, error) {
	o, err := temporal.Parse(address)
	if err != nil {
		return nil, err
	}
	programs := new(runner.Programs)
	o.Machines = programs
	o.Check = temporal.CheckProgram(func(hash string, definition []byte) (*ir.Program, error) {
		p, err := programs.Load(hash, definition)
		if err != nil {
			return nil, err
		}
		return p.Program, nil
	})
	h, err := temporal.Dial(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Fleet{h, programs}, nil
}

// Load gives the program of a definition.
func (f *Fleet) Load(hash string, definition []byte) (*runner.Program, error) {
	return f.programs.Load(hash, definition)
}

// Past replays the journal of a run, which is read from the histories of the server and needs no worker.
func (f *Fleet) Past(ctx context.Context, run string) (*runner.Past, error) {
	var batches []journal.Batch
	h, definition, err := f.Journal(ctx, run, func(b journal.Batch) error {
		batches = append(batches, b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	p, err := f.programs.Past(h, definition)
	for i := 0; err == nil && i < len(batches); i++ {
		err = p.ReplayBatch(batches[i], nil)
	}
	return p, err
}

// WorkerOptions say what a worker serves.
type WorkerOptions struct {
	Queues    []string
	Slots     int
	Workspace string // the folder in which programs find their files; absolute
	Logs      string // a folder for what attempts write
	Environ   []string
	Executors standalone.Options
}

// Serve drives runs and carries out attempts until ctx is done. Then it gives back what it has.
func (f *Fleet) Serve(ctx context.Context, o WorkerOptions) error {
	if err := os.MkdirAll(o.Logs, 0o700); err != nil {
		return err
	}
	x, err := standalone.OpenExecutors(o.Logs, o.Executors)
	if err != nil {
		return err
	}
	defer x.Close()
	w := &work.Worker{Executor: x, Workspace: o.Workspace, Base: runner.RecordedEnv(o.Environ), Began: x.Began}
	return f.Host.Serve(ctx, w, temporal.WorkerOptions{Queues: o.Queues, Slots: o.Slots})
}
