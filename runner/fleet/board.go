package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/standalone"
)

// asksBoard asks a worker what the next round of a loop would take.
const asksBoard = "board"

// maxBoard is how long the sources of a loop may take.
const maxBoard = 2 * time.Minute

// LoopBoard has a worker ask the sources of a loop, and reads what it says into out. start is a run of the loop that is not started.
func (f *Fleet) LoopBoard(ctx context.Context, start engine.Start, out any) error {
	ctx, done := context.WithTimeout(ctx, maxBoard)
	defer done()
	if queue, names, err := f.Workers(ctx); err == nil && len(names) == 0 {
		return fmt.Errorf("no worker takes work from the queue %s", queue)
	}
	body, err := json.Marshal(start)
	if err == nil {
		body, err = f.host.AskWorker(ctx, asksBoard, body)
	}
	if err == nil {
		err = json.Unmarshal(body, out)
	}
	return err
}

// answerOf answers the questions of persons to a worker.
func answerOf(x *standalone.Executors, o *WorkerOptions) temporal.Answer {
	return func(ctx context.Context, what, _ string, body []byte) ([]byte, error) {
		if what != asksBoard {
			return nil, fmt.Errorf("the worker is of another release: it does not know %q", what)
		}
		var start engine.Start
		if err := json.Unmarshal(body, &start); err != nil {
			return nil, err
		}
		dir, err := work.Place(o.Workspace, start.First.Dir)
		if err != nil {
			return nil, err
		}
		b, err := x.Service().LoopBoardHere(ctx, start, dir, runner.RecordedEnv(o.Executors.Environ))
		if err != nil {
			return nil, err
		}
		return json.Marshal(o.OnBoard(b))
	}
}
