// Package fleet joins the host on Temporal with programs and executors: a client starts runs and follows them, a worker drives them and carries
// out their attempts.
//
// It is the one place outside of tests that imports this host. It knows no command line and no screen. Enter at [Dial].
package fleet

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/loop"
	"github.com/flowrun/flowrun/loop/worktree"
	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/artifact"
	"github.com/flowrun/flowrun/runner/artifact/bucket"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/payload"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/logs"
	"github.com/flowrun/flowrun/runner/standalone"
)

// Root stands for the workspace of whatever worker carries an attempt out: it is the folder of a program in the first event of a run.
const Root = work.Root

// Fleet is a connection to a server, and the store of the runs that the server keeps. It must be closed.
type Fleet struct {
	*standalone.Store
	host   *temporal.Host
	bucket *bucket.Bucket // nil: there is none
	keep   func(run string, p *event.Parts) (*event.Artifact, error)
}

// Unreached says that a server cannot be used, and what to do about it.
type Unreached = temporal.Unreached

// Options say where a fleet has what does not lie on the server. The zero value is for use.
type Options struct {
	Address string
	// Folder is the folder that workers and readers share, absolute: it has the logs of attempts, and what is too long for the server. ""
	// means that there is none.
	Folder string
	// Bucket is the bucket that they share in its place, s3://BUCKET/PREFIX: it has the logs of attempts that have ended. Environ has its keys.
	Bucket string
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
	o.Machines, o.Group, o.Events, o.Externals = s, s.Group, s.Events, runner.Externals
	f := &Fleet{}
	if err := to.payloads(&o, f); err != nil {
		return nil, err
	}
	if o.Tune, err = temporal.Secure(to.getenv); err != nil {
		return nil, err
	}
	o.Check = temporal.CheckProgram(func(hash string, definition []byte) (*ir.Program, error) {
		p, err := s.Load(hash, definition)
		if err != nil {
			return nil, err
		}
		return p.Program, nil
	})
	o.UsesMemory = func(b *engine.Start) (bool, error) {
		p, err := s.Load(b.Header.Definition, b.Definition)
		return err == nil && usesMemory(p.Program), err
	}
	o.Launch, o.Worker = s.Launch, to.Worker
	h, err := temporal.Dial(ctx, o)
	if err != nil {
		return nil, err
	}
	s.Attach(h)
	f.Store, f.host = standalone.Remote(s, to.Address, to.Folder, f.logs()), h
	return f, nil
}

// QueueOf returns the task queue of an address.
func QueueOf(address string) string {
	o, _ := temporal.Parse(address) // it was checked
	return cmp.Or(o.Queue, temporal.DefaultQueue)
}

// UnservedQueue returns the queue of a run for which no worker is there; "" if that is not its trouble.
func UnservedQueue(i *engine.Info) string { return temporal.UnservedQueue(i) }

// MissesKey reports whether something cannot be read, for want of the key of its payloads.
func MissesKey(trouble string) bool { return strings.Contains(trouble, payload.KeyEnv) }

// IsOlder reports whether the workers are of a release that is older than what runs share.
func IsOlder(err error) bool { return temporal.IsOlder(err) }

// IsBucket reports whether an address is that of a bucket, and not a folder.
func IsBucket(address string) bool { return strings.HasPrefix(address, bucket.Scheme) }

// Bucket checks that the bucket can be written and read, and names it; "" if there is none.
func (f *Fleet) Bucket() (name string, err error) {
	if f.bucket == nil {
		return "", nil
	}
	return f.bucket.String(), f.bucket.Check()
}

// payloads says how payloads and artifacts are kept.
func (to *Options) payloads(o *temporal.Options, f *Fleet) error {
	p := payload.Options{Block: to.Worker}
	switch {
	case to.Bucket != "":
		b, err := bucket.Open(to.Bucket, to.getenv)
		if err != nil {
			return err
		}
		p.Files, f.bucket, o.Large = b, b, true
		o.Artifacts = func(run string) event.Artifacts { return artifact.In{Bucket: b, Run: run} }
		f.keep = func(run string, p *event.Parts) (*event.Artifact, error) {
			return artifact.In{Bucket: b, Run: run}.Put(p)
		}
	case to.Folder != "":
		store := artifact.New(to.Folder, disk{})
		p.Files, o.Large = payload.Folder(to.Folder), true
		o.Artifacts = func(run string) event.Artifacts { return store.Run(run) }
		f.keep = func(run string, p *event.Parts) (*event.Artifact, error) { return store.Run(run).Put(p) }
	}
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
	return nil
}

func (to *Options) getenv(name string) string {
	for _, entry := range slices.Backward(to.Environ) {
		if value, is := strings.CutPrefix(entry, name+"="); is {
			return value
		}
	}
	return ""
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
	Logs      string // a folder for what attempts write; a log goes from there to the bucket, if there is one
	Store     string // the folder of the memory and of worktrees, absolute
	// Memory says that the worker serves the memory to all workers, and OnMemory carries out commands on it.
	Memory   bool
	OnMemory func(context.Context, Command) Said
	// OnBoard says what a person wants to know of the items and agents of a loop.
	OnBoard   func(*loop.Board) any
	Executors standalone.Options
}

// Serve drives runs and carries out attempts until ctx is done. Then it gives back what it has.
func (f *Fleet) Serve(ctx context.Context, o WorkerOptions) error {
	if _, err := f.Bucket(); err != nil {
		return err
	}
	if err := os.MkdirAll(o.Logs, 0o700); err != nil {
		return err
	}
	x, err := standalone.OpenExecutors(o.Logs, o.Store, f.Ask, o.Executors)
	if err != nil {
		return err
	}
	defer x.Close()
	w := &work.Worker{Executor: x, Workspace: o.Workspace, Base: runner.RecordedEnv(o.Executors.Environ), Began: x.Began}
	w.Secret = x.Secret(f.host)
	host, _ := os.Hostname() // "" is the same for all processes of a machine
	w.Place, w.Worktrees = host+":"+o.Store, worktree.Folder(o.Store)
	w.Large, w.Keep = f.keep != nil, f.keep
	if f.bucket != nil {
		w.KeepLog = func(ctx context.Context, log string) (string, error) { return f.keepLog(ctx, logs.Folder(o.Logs), log) }
	}
	return f.host.Serve(ctx, w, temporal.WorkerOptions{Queues: o.Queues, Slots: o.Slots, Memory: f.serveMemory(x, &o), Answer: answerOf(x, &o)})
}

// keepLog moves a log of a worker to the bucket, and returns its name there. The name has a part of the hash: two workers may have carried an attempt out,
// of which one was taken for lost.
func (f *Fleet) keepLog(ctx context.Context, from logs.Folder, log string) (kept string, err error) {
	file, err := from.Open(log)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum, size, err := bucket.Hash(file)
	if err != nil || size == 0 {
		return "", err
	}
	stream := path.Ext(log)
	kept = strings.TrimSuffix(log, stream) + "-" + sum[:12] + stream
	if err := f.bucket.PutFile(ctx, kept, file, sum, size); err != nil {
		return "", err
	}
	_ = os.Remove(file.Name()) // else it takes room, no more
	return kept, nil
}

// logs opens logs in the bucket; nil if there is none.
func (f *Fleet) logs() standalone.OpenLog {
	if f.bucket == nil {
		return nil
	}
	return func(name string) (io.ReadSeekCloser, time.Time, error) {
		if !filepath.IsLocal(name) || !strings.HasPrefix(path.Clean(name), logs.Dir+"/") { // a stranger has written the answer
			return nil, time.Time{}, fs.ErrNotExist
		}
		file, err := f.bucket.OpenFile(name)
		if err != nil {
			return nil, time.Time{}, err
		}
		return file, file.Written, nil
	}
}

// Workers returns the queue of the address, and the names of the workers that take work from it.
func (f *Fleet) Workers(ctx context.Context) (queue string, names []string, err error) {
	names, err = f.host.Workers(ctx)
	return f.host.Queue(), names, err
}

// Troubled returns the runs that do not go on, newest first: see the Trouble of each.
func (f *Fleet) Troubled(ctx context.Context) ([]engine.Info, error) { return f.host.Troubled(ctx) }
