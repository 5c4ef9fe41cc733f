package app

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

// TestForecastsAgainstWhatCame runs a workflow after others, and compares what plan says before the run with what stats says of it afterwards: the
// expected time is the same. Runs without a forecast do not count.
func TestForecastsAgainstWhatCame(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = `
locals { many = length(var.list) > 1 }
variable "list" {
  type    = list(string)
  default = ["a", "b", "c"]
}
workflow "main" {
  default = true
  max_concurrency = 2
  input "fail" {
    type    = bool
    default = false
  }
  step "list" { value = var.list }
  step "each" {
    for_each = step.list.output
    run      = "sleep 0.05"
  }
  step "then" {
    depends_on = [step.each]
    when       = "local.many && !input.fail"
    run        = "sleep 0.05"
  }
  step "breaks" {
    depends_on = [step.each]
    when       = "input.fail"
    run        = "exit 1"
  }
}
`
	if err := os.WriteFile("flow.hcl", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	say := func(want int, to any, words ...string) string {
		t.Helper()
		var out, said bytes.Buffer
		if code := Main(words, Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Environ: os.Environ()}); code != want {
			t.Fatalf("%q: exit code %d\n%s%s", words, code, out.String(), said.String())
		}
		if to != nil {
			if err := json.Unmarshal(out.Bytes(), to); err != nil {
				t.Fatalf("%v: %s", err, out.String())
			}
		}
		return out.String()
	}
	var have struct {
		Forecasts struct {
			Total struct {
				Runs                  int
				Expected, Took, Ratio float64
			}
			Workflows []struct{ Name string }
			Days      []struct{ Total struct{ Runs int } }
		}
	}
	say(exitDone, nil, "apply", "flow.hcl") // nothing is known before it
	say(exitDone, &have, "stats", "--forecasts", "--json")
	if have.Forecasts.Total.Runs != 0 || len(have.Forecasts.Workflows) != 0 {
		t.Errorf("the first run has a forecast: %+v", have)
	}
	var planned struct{ Forecast struct{ Seconds float64 } }
	say(exitDone, &planned, "plan", "flow.hcl", "--json")
	say(exitDone, nil, "apply", "flow.hcl")
	say(exitNo, nil, "apply", "flow.hcl", "--input", "fail=true")
	say(exitDone, nil, "apply", "flow.hcl", "--target", "each")
	say(exitDone, nil, "retry", "latest", "--from", "each", "--all")
	say(exitDone, &have, "stats", "--forecasts", "--daily", "--json")
	f := have.Forecasts
	if f.Total.Runs != 1 || len(f.Workflows) != 1 || f.Workflows[0].Name != "main" {
		t.Fatalf("one run counts: %+v", f)
	}
	if math.Abs(f.Total.Expected-planned.Forecast.Seconds) > 1e-6 || planned.Forecast.Seconds < 0.15 {
		t.Errorf("stats says that %v s were expected, plan said %v s", f.Total.Expected, planned.Forecast.Seconds)
	}
	if f.Total.Took < 0.15 || f.Total.Ratio != f.Total.Took/f.Total.Expected {
		t.Errorf("the run took %v s, %v of what was expected", f.Total.Took, f.Total.Ratio)
	}
	n := 0
	for _, d := range f.Days {
		n += d.Total.Runs
	}
	if n != 1 {
		t.Errorf("%d runs of all days", n)
	}
	if table := say(exitDone, nil, "stats", "--forecasts"); !strings.Contains(table, "within 25%") || !strings.Contains(table, "\nall workflows       1 ") {
		t.Error(table)
	}
}
