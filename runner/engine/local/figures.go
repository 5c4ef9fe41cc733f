package local

import (
	"context"
	"math"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// Runs with rules that read figures of the machine get them as messages, while a process drives them: at
// most one in figuresEvery, and only when a figure has moved by figuresMoved points since the last one.
const (
	figuresFirst = time.Second // the first look comes so long after the start of a drive, because the load of the processors needs two
	figuresEvery = 10 * time.Second
	figuresMoved = 5 // percent
)

// Figures are figures of the machine, in percent; nil where they are not known.
type Figures struct{ CPU, Memory *float64 }

// startFigures sends figures to the run, if the run reads them, until the function that it returns is called.
func (d *drive) startFigures(ctx context.Context) (stop func()) {
	if !d.session.Fold().ReadsMachine() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.sendFiguresUntil(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (d *drive) sendFiguresUntil(ctx context.Context) {
	look := d.engine.options.Figures
	if look == nil {
		look = newLook()
	}
	told, wait := map[string]value.Value(nil), figuresFirst
	for {
		alarm, giveUp := d.engine.options.Clock.After(wait)
		select {
		case <-ctx.Done():
			giveUp()
			return
		case <-alarm:
		}
		wait = figuresEvery
		now := look()
		data := map[string]value.Value{"cpu": rounded(now.CPU), "memory": rounded(now.Memory)}
		if told != nil && !moved(told["cpu"], data["cpu"]) && !moved(told["memory"], data["memory"]) {
			continue
		}
		if d.engine.sendFigures(d.run.id, data) == nil { // an error is the store's, or the run has ended
			told = data
		}
	}
}

// sendFigures puts figures into the inbox of a run.
func (e *Engine) sendFigures(run string, data map[string]value.Value) error {
	packed, err := engine.PackExternal(event.External{Kind: event.ExternalMetrics, Data: data}, []event.ExternalKind{event.ExternalMetrics})
	if err != nil {
		return err
	}
	err = e.write(func(tx *transaction) error {
		return e.postPacked(tx, run, event.ExternalMetrics, packed, func(int) int { return 1 })
	})
	if err == nil {
		e.pokeRun(run)
	}
	return err
}

// rounded is a figure with one digit behind the point; nil where it is not known.
func rounded(f *float64) value.Value {
	if f == nil {
		return nil
	}
	return math.Round(*f*10) / 10
}

// moved reports whether a figure is so different that a run is told.
func moved(before, after value.Value) bool {
	b, known := before.(float64)
	a, knows := after.(float64)
	return known != knows || known && math.Abs(a-b) >= figuresMoved
}
