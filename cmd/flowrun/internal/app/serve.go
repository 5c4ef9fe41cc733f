package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/web"
	"github.com/flowrun/flowrun/dsl/ir"
)

func (a *app) newServeCommand() *cobra.Command {
	var o args.Serve
	c := &cobra.Command{
		Use: "serve [FILE|DIR…]", Short: "Continue runs that have no process, keep loops running, and start runs for events", Args: between(0, 100, "[FILE|DIR…]"),
		Long: `serve is the daemon of a store. It drives each run that no other process drives, starts the runs that events start, and answers over HTTP.
It registers the programs that are named, as apply does, serves all programs that are registered, and keeps their loops running. One daemon serves a store: a second
one exits with code 3. With --engine, workers drive the runs of a Temporal server, and serve shows the dashboard and answers over HTTP. The first Ctrl-C or TERM takes no new work, gives running work 8 seconds, and then stops it; the next daemon continues.
A step that is stopped gets TERM, and KILL after 5 seconds or the shorter FLOWRUN_GRACE.
FLOWRUN_URL is where people reach the dashboard, such as https://flowrun.example.com: messages of the runs link there.

  flowrun serve                                until it is stopped
  flowrun serve --once                         do the work that is due and return, for cron and CI
  flowrun serve --print-unit                   print a unit for systemd
  flowrun serve --engine temporal://HOST:PORT  the dashboard of a Temporal server

The HTTP API is described at /api/v1/openapi.json. Requests need the header  Authorization: Bearer TOKEN; the token is in the store, in the
file serve.token. /healthz and /readyz need none, nor do deliveries to webhooks (POST /webhooks/NAME), which are signed: see flowrun explain on.`,
		RunE: func(_ *cobra.Command, words []string) error {
			o.Paths = words
			if len(words) == 1 && slices.Contains([]string{"start", "stop", "status", "restart", "reload"}, words[0]) && !exists(words[0]) {
				return &args.Error{Message: fmt.Sprintf("%q is neither a file nor a folder", words[0]),
					Hint: "flowrun serve is the daemon itself, until Ctrl-C or TERM. flowrun serve --print-unit prints a unit for systemd, which starts and stops it."}
			}
			return a.runServe(&o)
		},
	}
	f := c.Flags()
	pairFlags(c, "var", "a variable of the programs that are named", &o.Vars)
	f.StringArrayVar(&o.VarFiles, "var-file", nil, "a `file` of variables: name = value lines, or a JSON object; can be repeated")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:8420", "the `address` to answer on; port 0 picks a free one, and off turns HTTP off")
	f.StringArrayVar(&o.Hosts, "host", nil, "another `HOST:PORT` by which clients reach the server, such as that of a proxy; can be repeated")
	f.BoolVar(&o.NoToken, "no-token", false, "answer requests without a token; only with a loopback address")
	f.BoolVar(&o.Once, "once", false, "do the work that is due, and return")
	f.BoolVar(&o.PrintUnit, "print-unit", false, "print a unit for systemd, and return")
	deathLimitFlag(c, &o.Drive)
	return c
}

// servesPages is what is refused with an engine: programs, --once and --listen off.
const servesPages = "shows the dashboard of a Temporal server, and takes no programs there, nor --once and --listen off. Workers drive the runs: flowrun worker."

func (a *app) runServe(o *args.Serve) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.NoToken && o.Listen != "off" && !serve.IsLoopback(o.Listen) {
		return &args.Error{Message: fmt.Sprintf("--no-token with the address %s, which other machines reach", o.Listen), Hint: "Leave --no-token out, or listen on 127.0.0.1."}
	}
	at := ""
	if len(o.Paths) > 0 {
		at = o.Paths[0]
	}
	dir, err := a.storeDir(at)
	if err != nil {
		return err
	}
	if o.PrintUnit {
		return a.printServeUnit(dir, o)
	}
	if a.engine() != "" && (len(o.Paths) > 0 || o.Once || o.Listen == "off") {
		return a.refuseOnEngine("serve", servesPages)
	}
	process.CollectWithin(a.getenv)
	s, err := a.openStore(dir, o.Drive)
	if err != nil {
		return err
	}
	defer s.Close()
	if a.engine() != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	held, err := serve.Lock(dir)
	if err != nil {
		return err
	}
	defer held.Release()
	for _, path := range o.Paths {
		if err := a.registerServe(s, path, o); err != nil {
			return err
		}
	}
	ctx, release := process.UntilSignal(func(string) {
		a.saySo(fmt.Sprintf("stopping: running work has %.0f seconds (press again to stop at once)", serve.DefaultGrace.Seconds()))
	})
	defer release()
	d := serve.New(serve.Options{Store: s, Say: a.saySo, Release: Release, Dir: dir})
	if o.Once {
		err = d.Once(ctx)
	} else if err = a.listenServe(d, held, dir, o); err == nil {
		err = d.Run(ctx)
		d.Close()
	}
	var stop *process.Interrupted
	if err == nil && o.Once && errors.As(context.Cause(ctx), &stop) {
		return &ended{process.SignalCode(stop.Signal)}
	}
	return err
}

// listenServe begins to answer over HTTP.
func (a *app) listenServe(d *serve.Daemon, held *serve.Held, dir string, o *args.Serve) error {
	if o.Listen == "off" {
		a.saySo(fmt.Sprintf("process %d serves %s", os.Getpid(), dir))
		return nil
	}
	options, file := serve.ServerOptions{Hosts: o.Hosts, Pages: web.New}, "none"
	if !o.NoToken {
		var err error
		if options.Token, file, err = serve.Token(dir); err != nil {
			return err
		}
	}
	at, err := d.Listen(o.Listen, options)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", o.Listen, err)
	}
	a.saySo(fmt.Sprintf("process %d serves %s at %s, token: %s", os.Getpid(), cmp.Or(a.engine(), dir), at, file))
	return held.Note(at)
}

// registerServe registers a program that the command names.
func (a *app) registerServe(s *store, path string, o *args.Serve) error {
	p, err := a.loadProgram(path)
	if err != nil {
		return err
	}
	if err := a.useEngineOf(p); err != nil {
		return err
	}
	if a.engine() != "" {
		return a.refuseOnEngine("serve", servesPages)
	}
	first, _, err := a.newFirstEvent(p, &ir.Workflow{}, &args.Apply{Given: args.Given{Vars: o.Vars, VarFiles: o.VarFiles}})
	if err != nil {
		return err
	}
	return a.register(s, p, first, false)
}

// printServeUnit prints a unit for systemd.
func (a *app) printServeUnit(dir string, o *args.Serve) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := fmt.Sprintf("%s serve --store %s --listen %s", self, dir, o.Listen)
	for _, p := range o.Paths {
		if p, err = filepath.Abs(p); err != nil {
			return err
		}
		command += " " + p
	}
	a.out.Printf(`[Unit]
Description=flowrun serves %[1]s
After=network-online.target

[Service]
ExecStart=%[2]s
WorkingDirectory=%[3]s
Restart=on-failure
RestartSec=1
KillMode=mixed
TimeoutStopSec=40

[Install]
WantedBy=default.target
`, ui.Clean(dir), ui.Clean(command), ui.Clean(filepath.Dir(dir)))
	return nil
}
