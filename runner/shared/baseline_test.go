package shared

import (
	"errors"
	"math"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

func askBaseline(t *testing.T, rows Rows, r event.BaselineRequest) map[string]any {
	t.Helper()
	a, err := Apply(rows, &event.StoreRequest{Baseline: &r}, Waiter{}, event.Time(1e18))
	if err != nil {
		t.Fatal(err)
	}
	o, _ := a.Output.(map[string]any)
	return o
}

func measured(key string, figure float64) event.BaselineRequest {
	return event.BaselineRequest{Name: "parser", Metric: "time", Figure: figure, Run: "run of " + key, Key: key, Measure: true}
}

// The first figure stays the baseline, however many are measured after it. A person alone puts another one in its place.
func TestNothingMovesABaselineButAPerson(t *testing.T) {
	rows := new(Map)
	if o := askBaseline(t, rows, measured("a", 2)); o != nil {
		t.Errorf("the first figure is compared with %v", o)
	}
	for i, figure := range []float64{1, 3, 0, 0.5} {
		if o := askBaseline(t, rows, measured(string(rune('b'+i)), figure)); o["figure"] != 2.0 || o["run"] != "run of a" {
			t.Errorf("%g is compared with %v", figure, o)
		}
	}
	if o := askBaseline(t, rows, event.BaselineRequest{Name: "parser"}); o["figure"] != 2.0 {
		t.Errorf("it is read as %v", o)
	}
	if o := askBaseline(t, rows, event.BaselineRequest{Name: "parser", Metric: "memory", Figure: 3, Run: "r", Accept: true}); o["figure"] != 2.0 {
		t.Errorf("accepted in the place of %v", o)
	}
	if o := askBaseline(t, rows, event.BaselineRequest{Name: "parser"}); o["figure"] != 3.0 || o["metric"] != "memory" || o["run"] != "r" {
		t.Errorf("after that it is %v", o)
	}
}

// An attempt whose answer was lost measures again: it is still the first one. Once a person has accepted a figure it is not.
func TestTheFirstFigureIsMeasuredAgain(t *testing.T) {
	rows := new(Map)
	askBaseline(t, rows, measured("a", 2))
	if o := askBaseline(t, rows, measured("a", 2.5)); o != nil {
		t.Errorf("asked again, the first figure is compared with %v", o)
	}
	if o := askBaseline(t, rows, measured("b", 9)); o["figure"] != 2.5 {
		t.Errorf("the next one is compared with %v", o)
	}
	askBaseline(t, rows, event.BaselineRequest{Name: "parser", Metric: "time", Figure: 7, Run: "r", Accept: true})
	if o := askBaseline(t, rows, measured("a", 2)); o["figure"] != 7.0 {
		t.Errorf("after a person's it is compared with %v", o)
	}
}

// Figures of two kinds are not compared, and only numbers are kept.
func TestBaselinesAreOfOneMetric(t *testing.T) {
	rows := new(Map)
	askBaseline(t, rows, measured("a", 2))
	other := measured("b", 2)
	other.Metric = "memory"
	for _, r := range []event.BaselineRequest{other, measured("c", math.NaN()), measured("c", math.Inf(1))} {
		var refused *Refusal
		if _, err := Apply(rows, &event.StoreRequest{Baseline: &r}, Waiter{}, 1); !errors.As(err, &refused) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	a, err := Apply(rows, &event.StoreRequest{Baseline: &event.BaselineRequest{}}, Waiter{}, 1)
	if list, _ := a.Output.([]any); err != nil || len(list) != 1 || list[0].(map[string]any)["name"] != "parser" {
		t.Errorf("the list is %v, %v", a.Output, err)
	}
}
