package app

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/journal"
)

// Release is this release's number. cmd/release sets it, and the commit, when it builds; another build knows its commit from
// git.
var (
	Release = "0.1.0-dev"
	commit  = ""
)

// versionJSON is the output of version --json.
type versionJSON struct {
	Release   string `json:"release"`
	Commit    string `json:"commit"` // "" where the build does not know it
	Modified  bool   `json:"modified"`
	Go        string `json:"go"`
	Platform  string `json:"platform"`
	Behaviour int    `json:"behaviour"`        // the newest behaviour that this release supports
	Journal   int    `json:"journal"`          // the newest format of journals
	SHA256    string `json:"sha256,omitempty"` // of this program; only with --check
}

func thisVersion() versionJSON {
	v := versionJSON{Release: Release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Behaviour: ir.Behaviour,
		Journal: journal.Format, Commit: commit}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String returns the line for people.
func (v versionJSON) String() string {
	commit := v.Commit
	if len(commit) > 12 {
		commit = commit[:12]
	}
	if commit != "" {
		commit = ", commit " + commit
	}
	if v.Modified {
		commit += " with changes"
	}
	return fmt.Sprintf("%s%s, %s %s, behaviour %d", v.Release, commit, v.Go, v.Platform, v.Behaviour)
}
