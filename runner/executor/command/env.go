package command

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// environ makes the environments of children.
//
// A run step or a gate inherits the driver's environment without the names that look secret, but with those that its pass_env
// lists; an agent inherits nothing but the latter. Over that lies the run's recorded allow-list, then what the file says, then
// FLOWRUN_RUN, FLOWRUN_WORKFLOW, FLOWRUN_STEP (the instance's path), FLOWRUN_ATTEMPT and FLOWRUN_IDEMPOTENCY_KEY; last comes
// the mark by which those are found who leave the attempt's group, FLOWRUN_CHILD.
type environ struct {
	all  map[string]string // the driver's
	open map[string]string // those that do not look secret
	last *atomic.Pointer[layers]
}

// layers is the part of an environment that is the same for all attempts of a run. The map of the attempt is kept: two
// attempts that carry the same map have the same layers.
type layers struct {
	of    map[string]string
	run   []string // the inherited ones and the allow-list, sorted
	agent []string // the allow-list, sorted
}

func newEnviron(list []string) environ {
	e := environ{all: map[string]string{}, open: map[string]string{}, last: new(atomic.Pointer[layers])}
	for _, kv := range list {
		name, v, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		if leftover(name) {
			continue
		}
		e.all[name] = v
		if !ir.LooksSecret(name) {
			e.open[name] = v
		}
	}
	return e
}

// leftover tells whether a name is one that an attempt of another flowrun was given, for itself.
func leftover(name string) bool {
	number, isValue := strings.CutPrefix(name, "FLOWRUN_V")
	return name == "FLOWRUN_OUTPUT" || name == childVar || name == "FLOWRUN_TASK" || isValue && strings.Trim(number, "0123456789") == ""
}

// of gives the environment of an attempt's child, without what the attempt must not inherit. The slice is the caller's.
func (e *environ) of(a *event.Attempt, withheld []string) []string {
	l := e.layers(a.Base)
	base := l.run
	if a.Agent != nil {
		base = l.agent
	}
	out := make([]string, len(base), len(base)+len(a.Env)+8)
	copy(out, base)
	if a.Agent != nil {
		out = e.pass(out, a.Agent.PassEnv)
	} else {
		out = e.pass(out, a.PassEnv)
	}
	for _, name := range withheld {
		out = slices.DeleteFunc(out, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	}
	for _, name := range names(a.Env) {
		out = set(out, name, a.Env[name])
	}
	out = set(out, "FLOWRUN_RUN", a.Run)
	out = set(out, "FLOWRUN_WORKFLOW", a.Workflow)
	out = set(out, "FLOWRUN_STEP", a.Node)
	out = set(out, "FLOWRUN_ATTEMPT", strconv.Itoa(a.Attempt))
	return set(out, "FLOWRUN_IDEMPOTENCY_KEY", a.Key)
}

// missed says which variables the script of an attempt reads that flowrun has and keeps from it, or "".
func (e *environ) missed(a *event.Attempt) string {
	if a.Script == "" {
		return ""
	}
	passed := a.PassEnv
	if a.Agent != nil {
		passed = a.Agent.PassEnv
	}
	var list []string
	for name := range e.all { // any order: sorted below
		if _, given := a.Env[name]; given || !ir.LooksSecret(name) || slices.Contains(passed, name) {
			continue
		}
		if reads := regexp.MustCompile(`\$\{?` + regexp.QuoteMeta(name) + `\b`); reads.MatchString(a.Script) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	return fmt.Sprintf("$%s is empty in the script, because flowrun keeps variables with such names from programs; pass_env = [%q] hands it on", list[0], list[0])
}

// pass adds what the driver has of some names.
func (e *environ) pass(list, names []string) []string {
	for _, name := range names {
		if v, ok := e.all[name]; ok {
			list = set(list, name, v)
		}
	}
	return list
}

func (e *environ) layers(base map[string]string) *layers {
	if l := e.last.Load(); l != nil && same(l.of, base) {
		return l
	}
	merged := make(map[string]string, len(e.open)+len(base))
	for k, v := range e.open {
		merged[k] = v
	}
	for k, v := range base {
		merged[k] = v
	}
	l := &layers{of: base, run: list(merged), agent: list(base)}
	e.last.Store(l)
	return l
}

// set puts name=value into a list, in place of what stands there for the name.
func set(list []string, name, v string) []string {
	for i, kv := range list {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			list[i] = name + "=" + v
			return list
		}
	}
	return append(list, name+"="+v)
}

// lookup reads a name from a list.
func lookup(list []string, name string) string {
	for _, kv := range list {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// same tells whether two maps are one.
func same(a, b map[string]string) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

func list(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for _, k := range names(m) {
		out = append(out, k+"="+m[k])
	}
	return out
}

func names(m map[string]string) []string {
	if len(m) == 0 {
		return nil
	}
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
