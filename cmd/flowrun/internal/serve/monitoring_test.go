package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMonitoring: the alerts and the dashboard of examples/monitoring ask for metrics that the daemon has, and for
// all of them.
func TestMonitoring(t *testing.T) {
	s, start := openTestStore(t, t.TempDir())
	_, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	start("fails")
	c := client{t, at}
	until(t, "a run has ended", func() bool {
		_, text := c.ask("GET", "/metrics?tasks=true", "")
		return strings.Contains(string(text), "flowrun_runs_ended{")
	})
	_, text := c.ask("GET", "/metrics?tasks=true", "")
	has, shown := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\w+) `).FindAllStringSubmatch(string(text), -1) {
		has[m[1]] = true
	}
	for _, name := range []string{"flowrun.rules.yml", "grafana.json"} {
		body, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "examples", "monitoring", name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(body) {
			t.Errorf("%s is not JSON", name)
		}
		found := regexp.MustCompile(`flowrun_\w+`).FindAllString(string(body), -1)
		for _, metric := range found {
			if shown[metric] = true; !has[metric] {
				t.Errorf("%s asks for %s, which the daemon does not have", name, metric)
			}
		}
	}
	if len(has) < 9 {
		t.Errorf("the daemon has the metrics %v", has)
	}
	for metric := range has { // any order: each on its own
		if !shown[metric] {
			t.Errorf("neither an alert nor the dashboard shows %s", metric)
		}
	}
}
