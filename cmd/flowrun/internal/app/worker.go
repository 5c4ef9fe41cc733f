package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/runner/fleet"
)

func (a *app) newWorkerCommand() *cobra.Command {
	o := args.Worker{Slots: 8}
	c := &cobra.Command{
		Use: "worker", Short: "Drive runs on a Temporal server, and carry out their attempts", Args: between(0, 0, ""),
		Long: `worker takes work from a Temporal server: it drives runs, and carries out their attempts in this process.
Start as many workers as you like, on as many machines. If a worker dies, another worker continues: no finished step runs again, and an
attempt that was running runs once more.

A program finds its files in the workspace of the worker: the folder of the program is the workspace, and dir of a step is a folder below it.
Programs get the environment of the worker. The first Ctrl-C or TERM takes no new work, and gives attempts back that do not end soon.

One worker has the memory of agents, the worker with --memory: it is the file memory.db in the store of its workspace. That worker also drives runs, and all workers ask it for learnings.

  flowrun worker --engine temporal://127.0.0.1:7233/default --slots 4`,
		RunE: func(*cobra.Command, []string) error { return a.runWorker(&o) },
	}
	f := c.Flags()
	f.StringSliceVar(&o.Queues, "queues", nil, "the task `queues` that the worker serves (default: the queue of the address, or flowrun)")
	f.IntVar(&o.Slots, "slots", o.Slots, "at most `N` attempts at once")
	f.StringVar(&o.Workspace, "workspace", ".", "the `folder` in which programs find their files")
	f.BoolVar(&o.Memory, "memory", false, "serve the memory of agents to all workers")
	return c
}

func (a *app) runWorker(o *args.Worker) error {
	address := a.engine()
	if address == "" {
		return &args.Error{Message: "worker needs an engine", Hint: "Name it: --engine temporal://HOST:PORT/NAMESPACE."}
	}
	if err := o.Check(); err != nil {
		return err
	}
	workspace, err := filepath.Abs(o.Workspace)
	if err != nil {
		return err
	}
	if info, err := os.Stat(workspace); err != nil || !info.IsDir() {
		return &args.Error{Message: fmt.Sprintf("the workspace %s is not a folder", ui.Clean(o.Workspace))}
	}
	store, err := a.storeDir(workspace)
	if err != nil {
		return err
	}
	logs, _, err := a.artifacts()
	if err != nil {
		return err
	}
	if logs == "" {
		logs = filepath.Join(store, "worker")
	}
	ctx, release := process.UntilSignal(func(string) {
		a.saySo("stopping: attempts that do not end soon are given back (press again to stop at once)")
	})
	defer release()
	host, err := a.dialFleet(ctx, true)
	if err != nil {
		return err
	}
	defer host.Close()
	a.saySo(fmt.Sprintf("process %d serves %s with %d slots, workspace %s%s%s", os.Getpid(), ui.Clean(address), o.Slots, ui.Clean(workspace), queuesOfWorker(o), memoryOfWorker(o, store)))
	return host.Serve(ctx, fleet.WorkerOptions{Queues: o.Queues, Slots: o.Slots, Workspace: workspace, Logs: logs, Store: store, Executors: a.carryOptions(),
		OnBoard: newBoard, Memory: o.Memory, OnMemory: func(ctx context.Context, c fleet.Command) fleet.Said { return a.carryOutMemory(ctx, store, c) }})
}

func memoryOfWorker(o *args.Worker, store string) string {
	if !o.Memory {
		return ""
	}
	return ", and the memory in " + ui.Clean(disk.Short(store))
}

func queuesOfWorker(o *args.Worker) string {
	if len(o.Queues) == 0 {
		return ""
	}
	return ", queues " + ui.Clean(strings.Join(o.Queues, ", "))
}
