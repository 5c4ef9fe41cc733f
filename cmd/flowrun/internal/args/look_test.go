package args

import (
	"strings"
	"testing"
)

func TestListChecks(t *testing.T) {
	for want, l := range map[string]List{"--limit": {Limit: -1}, `--status "done" is not known`: {Status: []string{"failed", "done"}}} {
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", l, err)
		}
	}
	l := List{Status: []string{"failed", "running"}, Workflow: "w"}
	if err := l.Check(); err != nil || !l.Filters() {
		t.Error(err)
	}
	if !l.Takes("w", "failed") || l.Takes("v", "failed") || l.Takes("w", "succeeded") || !(&List{}).Takes("v", "pending") {
		t.Error("the wrong runs are taken")
	}
}
