package app

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
	"github.com/flowrun/flowrun/runner/view"
)

// userName is the name of the user of the operating system.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

// sayVerdict prints what became of a decision.
func (a *app) sayVerdict(s *store, info engine.Info, v shared.Verdict, d event.Decision, r *args.Decide) error {
	switch v.Outcome {
	case shared.BadWord, shared.Unasked, shared.Misfit:
		return &args.Error{Message: ui.CleanLines(v.Message)}
	case shared.Late, shared.Stranger, shared.Changed:
		if r.JSON {
			_ = ui.WriteJSON(a.out, verdictJSON(info, v))
		} else {
			a.err.Printf("flowrun: %s\n", ui.CleanLines(v.Message))
		}
		return &ended{exitNo}
	case shared.Recorded:
	}
	if r.JSON {
		if err := ui.WriteJSON(a.out, verdictJSON(info, v)); err != nil {
			return err
		}
	} else {
		what := "run " + info.Run
		if v.Node != "" {
			what = v.Node + " of " + what
		}
		text := fmt.Sprintf("%s %s %s", d.By, d.Word.Past(), what)
		if v.Word == "" && v.Missing > 0 {
			text += fmt.Sprintf("; %d more must approve", v.Missing)
		}
		a.out.Printf("%s\n", ui.Clean(text))
	}
	if v.Word == "" || info.Driver != 0 || info.Status.Terminal() {
		return nil
	}
	top := s.Top(context.Background(), info)
	if !r.Resume {
		switch flags := a.sceneOf(s, nil).Flags; {
		case r.JSON:
		case daemonContinues(s, top):
			a.err.Printf("The daemon of this store continues run %s. To follow it:\n  flowrun runs watch %s%s\n", top, top, flags)
		default:
			a.err.Printf("No process drives run %s. Continue with:\n  flowrun resume %s%s\n", top, top, flags)
		}
		return nil
	}
	if top != info.Run {
		var err error
		if info, err = s.Get(context.Background(), top); err != nil {
			return err
		}
	}
	return a.continueRun(context.Background(), s, info, &args.Given{}, &r.Drive, nil, r.JSON, true)
}

// verdictJSON is the output of decide with --json.
func verdictJSON(info engine.Info, v shared.Verdict) any {
	by := v.By
	if by == nil {
		by = []string{}
	}
	return struct {
		Run     string         `json:"run"`
		Node    string         `json:"node"`
		Outcome shared.Outcome `json:"outcome"`
		Message string         `json:"message,omitempty"`
		Word    event.Word     `json:"word,omitempty"`
		By      []string       `json:"by"`
		At      string         `json:"at,omitempty"`
		Missing int            `json:"missing,omitempty"`
		Driven  bool           `json:"driven"`
	}{info.Run, v.Node, v.Outcome, v.Message, v.Word, by, v.At.String(), v.Missing, info.Driver != 0}
}

// readAnswer gives a decision the inputs of its step.
func (a *app) readAnswer(ctx context.Context, s *store, q *event.DecideRequest, pairs *args.Pairs) error {
	if q.Decision.Word != event.WordApprove {
		if len(pairs.Values)+len(pairs.Raw)+len(pairs.From) > 0 {
			return args.Errorf("inputs are only for %s, and the decision is %s", event.WordApprove, q.Decision.Word)
		}
		return nil
	}
	p, err := s.Pinned(ctx, q.Run)
	if err != nil {
		return err
	}
	ask, step, err := askedStep(ctx, s, p.Workflow, q)
	if err != nil || step == nil || len(ask.Approvers) > 0 && !slices.Contains(ask.Approvers, q.Decision.By) { // the store says what is wrong
		return err
	}
	first, err := p.First()
	if err != nil {
		return err
	}
	q.Decision.Input, err = a.valueReader().Answer(step.Inputs, pairs, dsl.Known{Vars: first.Vars, Files: p.Program.Files})
	return err
}

// askedStep is the approval that a decision is for, and what it asks; nil if there is none.
func askedStep(ctx context.Context, s *store, w *ir.Workflow, q *event.DecideRequest) (*ui.Ask, *ir.Approve, error) {
	asks, err := allAsks(ctx, s)
	for _, name := range []func(*ui.Ask) string{func(k *ui.Ask) string { return k.Node }, func(k *ui.Ask) string { return k.Plain }, func(k *ui.Ask) string { return k.Name }} {
		for i := range asks {
			if k := &asks[i]; k.Run == q.Run && name(k) == q.Node {
				if n := w.Find(k.Name); n != nil {
					step, _ := n.Action.(*ir.Approve)
					return k, step, err
				}
			}
		}
	}
	return nil, nil, err
}

const (
	// followFor is how long decide waits until the process that drives the run has counted the decision.
	followFor = 2 * time.Second
	// followEvery is how often decide looks.
	followEvery = 10 * time.Millisecond
)

// followDecision returns the verdict on a decision that settles its ask. The process that drives the run may have gone on at the same
// moment for another reason: then the verdict is that the decision came too late.
func followDecision(ctx context.Context, s *store, v shared.Verdict, run, by string) (shared.Verdict, error) {
	for until := time.Now().Add(followFor); time.Now().Before(until); process.Pause(ctx, followEvery) {
		out, err := s.Ask(ctx, event.StoreRequest{Fate: &event.FateRequest{Run: run, Node: v.Node, Ask: v.Ask}})
		if err != nil {
			return v, err
		}
		if out != nil {
			fate, err := shared.ReadVerdict(out)
			if err == nil && (fate.Word != v.Word || !slices.Contains(fate.By, by)) {
				return fate, nil
			}
			return v, err
		}
		if info, err := s.Get(ctx, run); err != nil || info.Driver == 0 {
			return v, err
		}
	}
	return v, nil
}

// noWaitFlag declares the flag of commands that drive a run.
func noWaitFlag(c *cobra.Command, d *args.Drive) {
	c.Flags().BoolFunc("no-wait", "return with exit code 4 when only people can continue the run (default: without a terminal)", func(text string) error {
		noWait, err := strconv.ParseBool(text)
		d.NoWait = &noWait
		return err
	})
}

// returnsAtRest reports whether a command returns when all that is left of its run waits for people.
func (a *app) returnsAtRest(d *args.Drive) bool {
	if d.NoWait != nil {
		return *d.NoWait
	}
	return !a.err.IsTerminal()
}

// sayResting prints what waits for people in a run and in the runs that it called.
func (a *app) sayResting(s *store, r *view.Run, run string, scene ui.Scene, asJSON bool) error {
	if asJSON {
		_ = ui.WriteJSON(a.out, map[string]any{"v": ui.EventVersion, "seq": r.Seq(), "time": view.Moment(r.Last), "type": "run.waiting", "run": run,
			"status": event.Waiting, "exit_code": exitWaits})
		return &ended{exitWaits}
	}
	ctx := context.Background()
	tree, err := s.Tree(ctx, run)
	if err != nil {
		return err
	}
	asks, err := allAsks(ctx, s)
	if err != nil {
		return err
	}
	var own []ui.Ask
	for i := range asks {
		if at := slices.IndexFunc(tree, func(info engine.Info) bool { return info.Run == asks[i].Run }); at >= 0 {
			asks[i].Workflow = tree[at].Workflow
			own = append(own, asks[i])
		}
	}
	nameInputs(ctx, s, own)
	ui.FailedSoFar(a.err, r)
	a.err.Printf("flowrun: only people can continue the run:\n")
	ui.Inbox(a.err, own, scene.Flags, time.Now())
	if daemonContinues(s, run) {
		a.err.Printf("After the decision, the daemon of this store continues the run. To follow it:\n  flowrun runs watch %s%s\n", run, scene.Flags)
	} else {
		a.err.Printf("After the decision, continue with:\n  flowrun resume %s%s\n", run, scene.Flags)
	}
	return &ended{exitWaits}
}

// nameWorkflows adds the workflows of the runs, and returns the flags that a command on the store needs.
func (a *app) nameWorkflows(asks []ui.Ask) (flags string) {
	dir, err := a.storeDir("")
	if err != nil || len(asks) == 0 {
		return ""
	}
	s, err := a.openExisting(dir, nil)
	if err != nil {
		return ""
	}
	defer s.Close()
	for i := range asks {
		if info, err := s.Get(context.Background(), asks[i].Run); err == nil {
			asks[i].Workflow, asks[i].Top = info.Workflow, s.Top(context.Background(), info)
		}
	}
	nameInputs(context.Background(), s, asks)
	return a.flagsFor(s.Dir())
}

// nameInputs adds the inputs of approvals. A definition that cannot be read, which decide reports, adds none.
func nameInputs(ctx context.Context, s *store, asks []ui.Ask) {
	var p *runner.Pinned
	read := ""
	for i := range asks {
		if asks[i].Kind != string(event.AskApproval) {
			continue
		}
		if asks[i].Run != read {
			read = asks[i].Run
			p, _ = s.Pinned(ctx, read)
		}
		if p == nil {
			continue
		}
		if n := p.Workflow.Find(asks[i].Name); n != nil {
			if step, is := n.Action.(*ir.Approve); is {
				asks[i].Inputs = ui.AskInputs(step.Inputs)
			}
		}
	}
}

// otherDecisions are words that people type for a decision.
var otherDecisions = map[event.Word]string{
	event.WordApprove: "yes y ok true accept accepted approved allow confirm lgtm go",
	event.WordReject:  "no n nok false deny denied decline declined refuse rejected veto",
	event.WordRevise:  "changes request-changes changes-requested revision redo",
	event.WordDone:    "finish finished complete completed success",
	event.WordFail:    "failed failure error", event.WordRetry: "again rerun", event.WordSkip: "ignore", event.WordAbort: "cancel kill",
	event.WordOverride: "overwrite set", event.WordAck: "acknowledge seen", event.WordContinue: "resume proceed", event.WordStop: "end halt",
}

// explainWord refuses a decision whose word is missing or unknown, with the lines that the nodes of the run wait for.
func (a *app) explainWord(s *store, info engine.Info, r *args.Decide) error {
	e := &args.Error{Message: fmt.Sprintf("the decision %q is not known", r.Word)}
	if r.Word == "" {
		e.Message = "an argument is missing: flowrun decide RUN NODE WORD"
	}
	asks, err := allAsks(context.Background(), s)
	if err != nil {
		return err
	}
	asks = slices.DeleteFunc(asks, func(k ui.Ask) bool { return k.Run != info.Run })
	if named := slices.DeleteFunc(slices.Clone(asks), func(k ui.Ask) bool { return !slices.Contains([]string{k.Node, k.Plain, k.Name}, r.Node) }); len(named) > 0 {
		asks = named
	}
	if len(asks) == 0 {
		e.Hint = fmt.Sprintf("No node of run %s waits for a decision. flowrun inbox lists the nodes of all runs that wait.", info.Run)
		return e
	}
	var lines []string
	for i := range asks {
		k := &asks[i]
		word := strings.Join(k.Words, "|")
		for meant, typed := range otherDecisions { // any order: no word is in two of them
			if slices.Contains(k.Words, string(meant)) && slices.Contains(strings.Fields(typed), strings.ToLower(r.Word)) {
				word = string(meant)
			}
		}
		lines = append(lines, fmt.Sprintf("%s waits for %s. Type:\n  flowrun decide %s %s %s%s", ui.Clean(k.Node), ui.Clean(alternatives(k.Words)),
			r.Run, ui.Quote(ui.Clean(k.Node)), ui.Clean(word), a.sceneOf(s, nil).Flags))
	}
	e.Hint = strings.Join(lines, "\n")
	return e
}

// alternatives writes words as a sentence does: a, b or c.
func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
