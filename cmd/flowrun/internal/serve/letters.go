package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/retry"
	"github.com/flowrun/flowrun/runner/shared"
)

// Redrive tries a dead letter again.
type Redrive struct {
	By string `json:"by,omitempty"` // who tries it; "": api
}

// Redriven is what became of a redrive.
type Redriven struct {
	Kind   string `json:"kind"`             // of the letter
	Run    string `json:"run,omitempty"`    // the run that repeats a failed one
	Closed bool   `json:"closed,omitempty"` // a message was sent; other letters are closed when their work succeeds
}

// askLetter asks the store about a dead letter; its error says where there is none.
func (s *Server) askLetter(ctx context.Context, q event.DeadRequest) (value.Value, error) {
	v, err := s.daemon.store.Ask(ctx, event.StoreRequest{Dead: &q})
	var no *shared.Refusal
	if errors.As(err, &no) && q == (event.DeadRequest{ID: q.ID}) {
		err = &refusal{http.StatusNotFound, "dead_letter", no.Message}
	}
	return v, err
}

func (s *Server) knowLetter(ctx context.Context, id string) error {
	_, err := s.askLetter(ctx, event.DeadRequest{ID: id})
	return err
}

func dropLetter(s *Server, r *http.Request, id string, _ *Nothing) (any, error) {
	_, err := s.askLetter(r.Context(), event.DeadRequest{ID: id, Close: true})
	return Done{err == nil}, err
}

// letter is what a redrive reads of a dead letter.
type letter struct {
	Kind    string         `json:"kind"`
	Run     string         `json:"run"`
	Channel string         `json:"channel"`
	Message *event.Message `json:"message"`
}

// redrive tries a dead letter again, as flowrun dlq redrive does. Runs that come of it are driven by the daemon.
func (s *Server) redrive(r *http.Request) (any, error) {
	ctx, id := r.Context(), r.PathValue("id")
	var o Redrive
	if err := readBody(r, &o); err != nil {
		return nil, err
	}
	if o.By == "" {
		o.By = byAPI
	}
	v, err := s.askLetter(ctx, event.DeadRequest{ID: id})
	var d letter
	if err == nil {
		err = json.Unmarshal(value.Append(nil, v), &d)
	}
	if err == nil && (d.Kind == shared.DeadRun || d.Kind == shared.DeadNotification) {
		if _, err = s.daemon.store.Get(ctx, d.Run); errors.Is(err, engine.ErrNoRun) {
			err = &refusal{http.StatusConflict, "run", fmt.Sprintf("run %s of %s was removed", d.Run, id)}
		}
	}
	if err == nil && d.Kind == shared.DeadRun {
		err = s.knowFolder(ctx, d.Run) // its folder may be gone
	}
	if err == nil {
		err = s.audit(r, "dead_letter.redrive", id, o)
	}
	if err == nil {
		_, err = s.askLetter(ctx, event.DeadRequest{ID: id, RedrivenBy: o.By})
	}
	if err != nil {
		return nil, err
	}
	out := Redriven{Kind: d.Kind}
	switch d.Kind {
	case shared.DeadRun:
		var started Started
		started, err = s.startRetry(ctx, d.Run, retry.Wish{})
		out.Run = started.Run
	case shared.DeadNotification:
		out.Closed = true
		err = s.resend(ctx, id, &d)
	case shared.DeadEvent, shared.DeadRoutine:
		_, err = s.askLetter(ctx, event.DeadRequest{ID: id, Redeliver: true})
	}
	return out, err
}

// resend sends the message of a dead letter, and closes the letter or notes why it could not be sent.
func (s *Server) resend(ctx context.Context, id string, d *letter) error {
	err := s.daemon.store.ResendAlone(ctx, d.Run, d.Channel, *d.Message)
	var secrets *runner.NoSecrets
	if errors.As(err, &secrets) {
		return err
	}
	q := event.DeadRequest{ID: id, Close: true}
	if err != nil {
		q = event.DeadRequest{ID: id, FailedAgain: err.Error()}
		err = &refusal{http.StatusBadGateway, "channel", fmt.Sprintf("the message could not be sent to channel %q: %v", d.Channel, err)}
	}
	_, no := s.askLetter(ctx, q)
	return errors.Join(err, no)
}

// Words is a dead letter in a line.
func (d *DeadLetter) Words() string {
	about := d.Workflow + ", run " + d.Run
	if d.Event != nil {
		about = fmt.Sprintf("%s (%s) → %s", d.Event.Name, d.Event.ID, d.Workflow)
	}
	if d.Routine != nil {
		about = fmt.Sprintf("%s → %s", d.Routine.Name, d.Workflow)
	}
	if d.Node != nil {
		about += ", " + *d.Node
	}
	if d.Channel != nil {
		about = "channel " + *d.Channel + " of " + about
	}
	if i := d.Item; i != nil {
		if about = fmt.Sprintf("%s %q", i.ID, i.Title); i.Loop != "" {
			about += " of loop " + i.Loop
		}
		if d.Run != "" {
			about += ", run " + d.Run
		}
	}
	times := ""
	if d.Times > 1 {
		times = fmt.Sprintf(" (%d times)", d.Times)
	}
	line, _, _ := strings.Cut(d.Error.Message, "\n")
	return fmt.Sprintf("%s  %s  %s%s  %s", d.ID, d.Kind, about, times, line)
}

// maxLettersSaid is how many new dead letters the daemon says in one look, the newest.
const maxLettersSaid = 20

// sayLetters says the dead letters of the store that are new since the last look, and those that died again after somebody had tried them again.
// The first look notes which there are.
func (d *Daemon) sayLetters(ctx context.Context) error {
	newest := 1
	if d.lettersKnown {
		newest = maxLettersSaid
	}
	v, err := d.store.Ask(ctx, event.StoreRequest{Dead: &event.DeadRequest{After: d.lastLetter, Newest: newest, Again: d.lastAgain}})
	var list []struct {
		DeadLetter
		Again uint64 `json:"again"` // see [event.DeadRequest]
	}
	if err == nil {
		err = json.Unmarshal(value.Append(nil, v), &list)
	}
	if err != nil {
		return err
	}
	known, before, fresh := d.lettersKnown, d.lastLetter, 0
	d.lettersKnown = true
	var lines []string
	for i := range list {
		n, err := strconv.ParseUint(strings.TrimPrefix(list[i].ID, "dl-"), 10, 64)
		if err != nil {
			return fmt.Errorf("reading the dead letters: %w", err)
		}
		if n > before {
			fresh++
		}
		d.lastLetter, d.lastAgain = max(d.lastLetter, n), max(d.lastAgain, list[i].Again)
		lines = append(lines, "dead letter "+list[i].Words())
	}
	if !known {
		return nil
	}
	if more := d.lastLetter - before - uint64(fresh); more > 0 && fresh == maxLettersSaid {
		d.options.Say(fmt.Sprintf("%d more dead letters: flowrun dlq list", more))
	}
	for _, line := range lines {
		d.options.Say(line)
	}
	return nil
}
