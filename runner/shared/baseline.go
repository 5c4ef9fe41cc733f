package shared

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// baselineSpace holds the figures that benchmarks are compared with, by name.
const baselineSpace = "baseline"

// baseline is the row of a figure.
type baseline struct {
	Figure float64    `json:"figure"`
	Metric string     `json:"metric"`
	Run    string     `json:"run"`
	Key    string     `json:"key,omitempty"` // of the attempt that made it the first baseline
	At     event.Time `json:"at"`
}

func (b *baseline) object(name string) map[string]value.Value {
	return map[string]value.Value{"name": name, "figure": b.Figure, "metric": b.Metric, "run": b.Run, "at": b.At.String()}
}

func applyBaseline(rows Rows, r *event.BaselineRequest, now event.Time) (value.Value, error) {
	if r.Name == "" {
		list, wrong := []value.Value{}, error(nil)
		err := rows.Scan(baselineSpace, "", func(name string, body []byte) bool {
			var b baseline
			if b, wrong = readBaseline(name, body); wrong == nil {
				list = append(list, b.object(name))
			}
			return wrong == nil
		})
		if err == nil {
			err = wrong
		}
		return list, err
	}
	if math.IsNaN(r.Figure) || math.IsInf(r.Figure, 0) {
		return nil, refuse("the figure of %q is not a number", r.Name)
	}
	body, found, err := rows.Get(baselineSpace, r.Name)
	if err != nil {
		return nil, err
	}
	var old baseline
	if found {
		if old, err = readBaseline(r.Name, body); err != nil {
			return nil, err
		}
	}
	first := r.Measure && (!found || r.Key != "" && old.Key == r.Key)
	if found && r.Measure && !first && old.Metric != r.Metric {
		return nil, refuse("baseline %q is a figure of %s, and this is one of %s", r.Name, old.Metric, r.Metric)
	}
	if first || r.Accept {
		text, err := json.Marshal(baseline{r.Figure, r.Metric, r.Run, r.Key, now})
		if err != nil {
			return nil, err
		}
		if err := rows.Put(baselineSpace, r.Name, text); err != nil {
			return nil, err
		}
	}
	if !found || first {
		return nil, nil
	}
	return old.object(r.Name), nil
}

func readBaseline(name string, body []byte) (b baseline, err error) {
	if err = json.Unmarshal(body, &b); err != nil {
		err = fmt.Errorf("baseline %q cannot be read: %w", name, err)
	}
	return b, err
}
