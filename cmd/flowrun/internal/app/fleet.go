package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/loop"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/fleet"
	"github.com/flowrun/flowrun/runner/view"
)

// dialFleet connects to the server that keeps the runs, also as a worker.
func (a *app) dialFleet(ctx context.Context, worker bool) (*fleet.Fleet, error) {
	dir, bucket, err := a.artifacts()
	if err != nil {
		return nil, err
	}
	return fleet.Dial(ctx, fleet.Options{Address: a.engine(), Folder: dir, Bucket: bucket, Key: a.getenv(payloadKeyEnv), Environ: a.Environ, Worker: worker})
}

// openFleet is the store of the runs that a server keeps. A second signal ends a command that waits for the server.
func (a *app) openFleet() (*store, error) {
	f, err := a.dialFleet(context.Background(), false)
	if err != nil {
		return nil, err
	}
	return f.Store, nil
}

// applyOnFleet starts a run on another engine, and follows it to its end. The run goes on without the follower.
func (a *app) applyOnFleet(o *args.Apply, p *program, w *ir.Workflow, reports []args.Form) error {
	if err := o.Check(); err != nil { // the file may have named the engine
		return err
	}
	first, _, err := a.newFirstEvent(p, w, o)
	if err != nil {
		return err
	}
	if err := refuseOnFleet(p, w.Name, &first); err != nil {
		return err
	}
	s, err := a.openFleet()
	if err != nil {
		return err
	}
	defer s.Close()
	ctx := context.Background()
	if err := a.register(s, p, first, o.JSON); err != nil {
		return err
	}
	start, where := newStart(p, w.Name, first)
	run, err := s.Start(ctx, start, nil)
	if err != nil {
		return err
	}
	pinned, err := s.Load(start.Header.Definition, start.Definition)
	if err != nil {
		return err
	}
	if info, err := s.Get(ctx, run); err == nil && info.Trouble != "" { // what the server does not answer is not said
		a.err.Printf("run %s: %s\n", run, a.describeTrouble(info))
	}
	if o.Detach {
		if o.JSON {
			return ui.WriteJSON(a.out, map[string]any{"v": ui.EventVersion, "type": "run.detached", "run": run})
		}
		a.out.Printf("%s\n", run)
		return nil
	}
	scene := a.sceneOf(s, func(step string) string { return where[step] })
	err = a.driveRun(s, run, pinned, view.New(pinned.Workflow(first.Workflow)), scene, &o.Drive, o.JSON)
	return a.writeReports(s, run, scene, reports, err)
}

// refuseOnFleet refuses a run that workers cannot carry. Its folder and its environment are those of the worker.
func refuseOnFleet(p *program, workflow string, first *event.RunStarted) error {
	first.Dir, first.Env = fleet.Root, nil
	if err := fleet.Refuse(p.ir, workflow, first); err != nil {
		return &args.Error{Message: err.Error(), Hint: "Leave --engine out to run it in a store, or see: flowrun explain engine"}
	}
	return nil
}

// describeTrouble says what keeps a run of another engine from going on, and what to do.
func (a *app) describeTrouble(info engine.Info) string {
	if fleet.MissesMemory(&info) {
		return fmt.Sprintf("%s. Start one with:\n  flowrun worker --memory%s", ui.CleanLines(info.Trouble), a.engineHints())
	}
	if info.Driver != 0 || info.Status.Terminal() {
		return ui.CleanLines(info.Trouble)
	}
	if fleet.MissesKey(info.Trouble) {
		return ui.CleanLines(info.Trouble)
	}
	return fmt.Sprintf("%s. The run waits for a worker:\n  %s", ui.CleanLines(info.Trouble), a.workerOf(&info))
}

// workerOf is the command that starts a worker for a run that no worker drives.
func (a *app) workerOf(info *engine.Info) string {
	if queue := fleet.UnservedQueue(info); queue != "" && queue != fleet.QueueOf(a.engine()) {
		return "flowrun worker --queues " + ui.Quote(queue) + a.engineHints()
	}
	return "flowrun worker" + a.engineHints()
}

// setKey is what to do where payloads cannot be read.
const setKey = "Set " + payloadKeyEnv + " to the key of the process that has started the run."

// fixOfShared says what to do about an error of what runs share.
func fixOfShared(err error) string {
	switch {
	case fleet.MissesKey(err.Error()):
		return setKey
	case fleet.IsOlder(err):
		return "Upgrade the workers: a worker with a newer release has taken over the shared state."
	}
	return "Check that the workers have this release."
}

// sayTroubles says once what keeps runs from going on.
func (a *app) sayTroubles(infos []engine.Info) {
	said := map[string]bool{}
	for i := range infos {
		if t := infos[i].Trouble; t != "" && !infos[i].Status.Terminal() && !said[t] {
			said[t] = true
			a.err.Printf("%s\n", a.describeTrouble(infos[i]))
		}
	}
}

// resumeOnFleet says what becomes of a run by itself.
func (a *app) resumeOnFleet(s *store, info engine.Info, r *args.Resume) error {
	for _, x := range []struct {
		given bool
		flag  string
		words string
	}{
		{r.TakeOver, "--take-over", "If the worker of a run does not answer, another worker continues the run: no takeover is needed."},
		{r.DeathLimit != 0, "--death-limit", "An attempt whose workers die fails after a fixed number of them."},
		{r.DryRun, "--dry-run", "Look at the run with: flowrun runs show " + info.Run + a.engineHints()},
		{len(r.NewSecrets) > 0, "--new-secret", "Workers have the values of secrets: change them there."},
	} {
		if x.given {
			return &args.Error{Message: x.flag + " is for runs of a store: workers drive this one", Hint: x.words}
		}
	}
	switch {
	case info.Status.Terminal():
		return a.continueRun(context.Background(), s, info, &r.Given, &r.Drive, nil, r.JSON, false)
	case info.Trouble != "":
		a.err.Printf("run %s does not continue: %s\n", info.Run, a.describeTrouble(info))
		return &ended{exitNo}
	}
	a.err.Printf("run %s continues by itself: workers drive it. Follow it with:\n  flowrun runs watch %s%s\n", info.Run, info.Run, a.engineHints())
	return nil
}

// examineFleet says whether the server answers, who takes work from its queue, and which runs do not go on.
func (a *app) examineFleet() (out []ui.Finding) {
	ctx, flags := context.Background(), a.engineHints()
	f, err := a.dialFleet(ctx, false)
	if u := new(fleet.Unreached); errors.As(err, &u) {
		return []ui.Finding{{Name: "engine", Level: ui.Wrong, Text: ui.CleanLines(u.Message), Fix: u.Fix}}
	}
	if err != nil {
		return []ui.Finding{{Name: "engine", Level: ui.Wrong, Text: ui.CleanLines(err.Error()), Fix: "Correct the variables in the message: flowrun explain engine."}}
	}
	defer f.Close()
	out = append(out, ui.Finding{Name: "engine", Level: ui.Fine, Text: "the server " + a.engine() + " answers"})
	queue, workers, err := f.Workers(ctx)
	switch {
	case err != nil:
		out = append(out, ui.Finding{Name: "workers", Level: ui.Wrong, Text: err.Error(), Fix: "Ask the operator of the server whether this account may describe task queues."})
	case len(workers) == 0:
		out = append(out, ui.Finding{Name: "workers", Level: ui.Odd, Text: "no worker takes work from the queue " + queue, Fix: "Start one with: flowrun worker" + flags})
	default:
		out = append(out, ui.Finding{Name: "workers", Level: ui.Fine, Text: fmt.Sprintf("%s of the queue %s", ui.Count(len(workers), "worker"), queue)})
	}
	switch about, trouble, err := f.Shared(ctx); {
	case err != nil:
		out = append(out, ui.Finding{Name: "shared", Level: ui.Wrong, Text: ui.CleanLines(err.Error()), Fix: fixOfShared(err)})
	case trouble != "":
		out = append(out, ui.Finding{Name: "shared", Level: ui.Wrong, Text: "the shared state does not continue: " + ui.CleanLines(trouble), Fix: "Fix the problem in the message and restart the workers."})
	case about != "":
		out = append(out, ui.Finding{Name: "shared", Level: ui.Fine, Text: "what runs share " + about})
	}
	out = append(out, a.examineFleetMemory(ctx, f)...)
	switch bucket, err := f.Bucket(); {
	case err != nil:
		out = append(out, ui.Finding{Name: "artifacts", Level: ui.Wrong, Text: ui.CleanLines(err.Error()), Fix: "flowrun explain engine lists the variables of a bucket."})
	case bucket != "":
		out = append(out, ui.Finding{Name: "artifacts", Level: ui.Fine, Text: bucket + " can be written and read"})
	case f.Dir() == "":
		out = append(out, ui.Finding{Name: "artifacts", Level: ui.Fine, Text: "no shared folder: outputs and logs are stored in the histories of the server, up to its limits"})
	}
	infos, err := f.Troubled(ctx)
	if err != nil {
		return append(out, ui.Finding{Name: "runs", Level: ui.Wrong, Text: err.Error(), Fix: "Ask the operator of the server whether this account may list workflows."})
	}
	for _, i := range infos {
		fix := "Start a worker of its queue with: " + a.workerOf(&i)
		switch {
		case fleet.MissesKey(i.Trouble):
			fix = setKey
		case fleet.MissesMemory(&i):
			fix = "Start one with: flowrun worker --memory" + flags
		case i.Driver != 0:
			fix = "Fix the problem in the message and restart the workers, or end the run: flowrun cancel " + i.Run + flags
		}
		out = append(out, ui.Finding{Name: "run " + i.Run, Level: ui.Wrong, Text: ui.CleanLines(i.Trouble), Fix: fix})
	}
	return out
}

// sayDetached tells the user that a run goes on without this command.
func (a *app) sayDetached(run string, code int, status event.Status, scene ui.Scene, asJSON bool) error {
	if asJSON {
		_ = ui.WriteJSON(a.out, map[string]any{"v": ui.EventVersion, "type": "run.detached", "run": run, "exit_code": code, "status": status})
	} else {
		a.err.Printf("flowrun: detached: run %s continues without this command, on its workers. Look at it with:\n  flowrun runs show %s%s\nEnd it with:\n  flowrun cancel %s%s\n",
			run, run, scene.Flags, run, scene.Flags)
	}
	return &ended{code}
}

// nextOfLoop is the output of loop next with --json.
type nextOfLoop struct {
	Loop    string             `json:"loop"`
	Choices []serve.LoopChoice `json:"choices"`
	Items   []serve.LoopLeft   `json:"items"` // those that no agent takes
}

// board is what is known of a loop, as a worker tells it, too.
type board struct {
	nextOfLoop
	Sources []barredSource `json:"sources,omitempty"` // those from which the loop takes nothing now
}

type barredSource struct {
	Name   string `json:"name"`
	Barred string `json:"barred"`
}

func newBoard(b *loop.Board) any {
	var out board
	out.Choices, out.Items = serve.ReadBoard(b)
	for i := range b.Sources {
		if why := b.Sources[i].Barred; why != "" {
			out.Sources = append(out.Sources, barredSource{b.Sources[i].Name, why})
		}
	}
	return out
}
