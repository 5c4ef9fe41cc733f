package memory

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowrun/flowrun/memory/entry"
)

// Viewer is who asks. The zero value sees what is shared.
type Viewer struct {
	All    bool // a person at the command line
	Scopes []entry.Scope
}

func (v Viewer) sees(s entry.Scope) bool {
	return v.All || s == entry.Shared || slices.Contains(v.Scopes, s)
}

// name is the same for viewers that see the same.
func (v Viewer) name() string {
	if v.All {
		return "all"
	}
	scopes := make([]string, len(v.Scopes))
	for i, s := range v.Scopes {
		scopes[i] = string(s)
	}
	slices.Sort(scopes)
	return fmt.Sprintf("%q", slices.Compact(scopes))
}

// place gives a new entry the scope that its author may write to.
//
// A person and a rule write anywhere. An agent writes to its own scope and that of its run. An untrusted author writes to the
// scope of its run, whatever it asked for; without a run there is nowhere to keep it.
func place(e *entry.Entry) error {
	run, own := entry.OfRun(e.By.Run), ownScope(e.By)
	switch e.By.Trust {
	case entry.ByPerson, entry.ByRule:
		return nil
	case entry.ByAgent:
		if e.Scope != entry.Shared && (e.Scope == own || e.By.Run != "" && e.Scope == run) {
			return nil
		}
		return fmt.Errorf("%w: %s writes to its own scope or to its run's, not to %s", ErrNotAllowed, author(e.By), name(e.Scope))
	default:
		if e.By.Run == "" {
			return fmt.Errorf("%w: %s is not trusted, and has no run whose scope would hold what it writes", ErrNotAllowed, author(e.By))
		}
		e.Scope = run
		return nil
	}
}

// mayChange says whether src is trusted with a change of the entry: untrusted authors with what untrusted authors wrote in
// the same run, agents with what is theirs or their run's.
func mayChange(src entry.Source, i *entry.Item) error {
	ok := false
	switch src.Trust {
	case entry.ByPerson, entry.ByRule:
		ok = true
	case entry.ByAgent:
		ok = i.Scope != entry.Shared && (i.Scope == ownScope(src) || src.Run != "" && i.Scope == entry.OfRun(src.Run))
	default:
		ok = src.Run != "" && i.Scope == entry.OfRun(src.Run) && i.By.Trust == entry.Untrusted
	}
	if !ok {
		return fmt.Errorf("%w: %s may not change %s", ErrNotAllowed, author(src), i.ID)
	}
	return nil
}

// ownScope is the scope of the agent that src is, or one that nothing has.
func ownScope(src entry.Source) entry.Scope {
	if agent, ok := strings.CutPrefix(src.Author, "agent:"); ok && agent != "" {
		return entry.OfAgent(agent)
	}
	return "none:"
}

func author(src entry.Source) string {
	if src.Author == "" {
		return "an author without a name"
	}
	return src.Author
}

func name(s entry.Scope) string {
	if s == entry.Shared {
		return "what is shared"
	}
	return string(s)
}

// checkScope refuses what is not a scope.
func checkScope(s entry.Scope) error {
	kind, rest, _ := strings.Cut(string(s), ":")
	if len(rest) > MaxID || !utf8.ValidString(rest) || strings.ContainsFunc(rest, unicode.IsControl) {
		return bad("the name in scope %.80q has more than %d bytes, or control characters", s, MaxID)
	}
	if s == entry.Shared || rest != "" && (kind == "agent" || kind == "run" || kind == "group") {
		return nil
	}
	return bad("scope %q is not one of agent:NAME, run:ID, group:NAME", s)
}
