// Package fleet joins the host on Temporal with programs and executors: a client starts runs and follows them, a worker drives them and carries
// out their attempts.
//
// It is the one place outside of tests that imports this host. It knows no command line and no screen. Enter at [Dial].
package fleet

import (
	"context"
	"os"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/artifact"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/payload"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/standalone"
)

// Root stands for the workspace of whatever worker carries an attempt out: it is the folder of a program in the first event of a run.
const Root = work.Root

// Fleet is a connection to a server, and the store of the runs that the server keeps. It must be closed.
type Fleet struct {
	*standalone.Store
	host *temporal.Host
}

// Options say where a fleet has what does not lie on the server. The zero value is for use.
type Options struct {
	Address string
	// Folder is the folder that workers and readers share, absolute: it has the logs of attempts, and what is too long for the server. ""
	// means that there is none.
	Folder string
	// Key encrypts what the server keeps, as text; "" means that nothing is encrypted.
	Key string
	// Environ is the environment of the process.
	Environ []string
	// Worker says that the process is one: a payload that it cannot read stops a run, and does not end it.
	Worker bool
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
func Dial(ctx context.Context, to Options) (*Fleet, error) {
	o, err := temporal.Parse(to.Address)
	if err != nil {
		return nil, err
	}
	s := runner.New(runner.Options{Store: to.Folder, Environ: to.Environ, Remote: true, Queue: o.Queue})
	o.Machines, o.Group, o.Events = s, s.Group, s.Events
	if err := to.payloads(&o); err != nil {
		return nil, err
	}
	o.Check = temporal.CheckProgram(func(hash string, definition []byte) (*ir.Program, error) {
		p, err := s.Load(hash, definition)
		if err != nil {
			return nil, err
		}
		return p.Program, nil
	})
	o.Launch = s.Launch
	h, err := temporal.Dial(ctx, o)
	if err != nil {
		return nil, err
	}
	s.Attach(h)
	return &Fleet{standalone.Remote(s, to.Address, to.Folder), h}, nil
}

// payloads says how payloads are kept.
func (to *Options) payloads(o *temporal.Options) error {
	p := payload.Options{Folder: to.Folder, Block: to.Worker}
	if to.Key != "" {
		var err error
		if p.Key, err = payload.ParseKey(to.Key); err != nil {
			return err
		}
	}
	writer, err := payload.Converter(p)
	if err != nil {
		return err
	}
	p.ReadOnly, p.Block = true, false
	reader, err := payload.Converter(p)
	if err != nil {
		return err
	}
	o.Converter, o.Reader = writer, reader
	if to.Folder != "" {
		store := artifact.New(to.Folder, disk{})
		o.Artifacts, o.Large = func(run string) event.Artifacts { return store.Run(run) }, true
	}
	return nil
}

// disk is that of the operating system.
type disk struct{}

func (disk) Open(path string, flag int) (artifact.File, error) { return private.Open(path, flag) }
func (disk) Rename(from, to string) error                      { return os.Rename(from, to) }
func (disk) Remove(path string) error                          { return os.Remove(path) }

// WorkerOptions say what a worker serves.
type WorkerOptions struct {
	Queues    []string
	Slots     int
	Workspace string // the folder in which programs find their files; absolute
	Logs      string // a folder for what attempts write
	Executors standalone.Options
}

// Serve drives runs and carries out attempts until ctx is done. Then it gives back what it has.
func (f *Fleet) Serve(ctx context.Context, o WorkerOptions) error {
	if err := os.MkdirAll(o.Logs, 0o700); err != nil {
		return err
	}
	x, err := standalone.OpenExecutors(o.Logs, f.Ask, o.Executors)
	if err != nil {
		return err
	}
	defer x.Close()
	w := &work.Worker{Executor: x, Workspace: o.Workspace, Base: runner.RecordedEnv(o.Executors.Environ), Began: x.Began}
	w.Secret = x.Secret(f.host)
	if dir := f.Dir(); dir != "" {
		store := artifact.New(dir, disk{})
		w.Large = true
		w.Keep = func(run string, p *event.Parts) (*event.Artifact, error) { return store.Run(run).Put(p) }
	}
	return f.host.Serve(ctx, w, temporal.WorkerOptions{Queues: o.Queues, Slots: o.Slots})
}

// Workers returns the queue of the address, and the names of the workers that take work from it.
func (f *Fleet) Workers(ctx context.Context) (queue string, names []string, err error) {
	names, err = f.host.Workers(ctx)
	return f.host.Queue(), names, err
}

// Troubled returns the runs that do not go on, newest first: see the Trouble of each.
func (f *Fleet) Troubled(ctx context.Context) ([]engine.Info, error) { return f.host.Troubled(ctx) }
