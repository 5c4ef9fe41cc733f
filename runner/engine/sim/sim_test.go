package sim_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/snapshot/snapshottest"
)

var (
	seeds = flag.Int("sim.seeds", 200, "how many simulations to run")
	from  = flag.Uint64("sim.from", 1, "the first of them")
	seed1 = flag.Uint64("sim.seed", 0, "run this one simulation and print its program")

	restoredOne = flag.Int("sim.restored", 64, "restore the machine of a replay after one event in so many")
)

// TestSimulation runs random programs with faults from a seed and looks for broken invariants:
//
//  1. every run ends;
//  2. an attempt whose good end was journaled is never started again; a key changes with a rejection or another agent
//     and never else;
//  3. no limit on concurrency is exceeded, that of an agent over all runs, a pool gives tasks to members with the capabilities alone, and nothing starts before what it needs has succeeded or was skipped;
//  4. where nothing in the program depends on time, faults change neither the end nor one output;
//  5. the journal's chain holds, and replaying it in slices of another size gives the same digests;
//  6. a run that is called is made once and asked for as often as its caller's driver dies; its end is taken once, it has the
//     end that its caller hears of, and a cancel reaches it; no run is left behind, but by a second cancel;
//  7. a run that repeats it makes nothing again of what it reuses, reuses nothing that was undone, and keeps all of this;
//  8. what needs a node whose failure stops its run is blocked;
//  9. runs of a group, of which three in four simulations have up to three, take turns in the order of their starts, and a dead process
//     has no turn; that a run is parked changes nothing, nor that one process drives all runs, whose drivers also die alone;
//  10. nothing starts in a budget that is spent, in called runs neither, and a node that fails for a budget has one around it that is;
//  11. what people are asked is settled once;
//  12. what nodes of a run that went wrong did is undone in reverse order of their starts, and finally runs in any case, but
//     for a second cancel;
//  13. nothing starts in a node that a person has cancelled.
func TestSimulation(t *testing.T) {
	if *seed1 != 0 {
		simulate(t, *seed1, true)
		return
	}
	n := *seeds
	if testing.Short() {
		n = min(n, 100)
	}
	var all sim.Struck
	kinds, broken := map[event.AskKind]int{}, 0
	calls, cancelled, people, more, repeated, barred, runs, parked, turns, circles, pooled, kills, settled, late, helped, chosen, messages, letters, changes := 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
	start := time.Now()
	var sums sync.Mutex
	shards := uint64(runtime.GOMAXPROCS(0))
	t.Run("seeds", func(t *testing.T) {
		for shard := range shards {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				failed := 0
				for seed := *from + shard; seed < *from+uint64(n); seed += shards {
					var c *simulation
					if !t.Run("", func(t *testing.T) { c = simulate(t, seed, false) }) {
						t.Logf("repeat with: go test ./runner/engine/sim -run TestSimulation -sim.seed=%d -v", seed)
						if failed++; failed == 10 {
							t.FailNow()
						}
					}
					if c == nil {
						continue
					}
					sums.Lock()
					struck := c.store.Struck()
					all.Crashes, all.Jumps, all.Twice = all.Crashes+struck.Crashes, all.Jumps+struck.Jumps, all.Twice+struck.Twice
					all.Back, all.Silent, all.Slow, all.Stale = all.Back+struck.Back, all.Silent+struck.Silent, all.Slow+struck.Slow, all.Stale+struck.Stale
					all.Busy, all.Parked = all.Busy+struck.Busy, all.Parked+struck.Parked
					runs, parked, turns, circles = runs+len(c.crowd.runs), parked+c.crowd.parked, turns+c.crowd.turns, circles+c.crowd.circles
					pooled, kills, settled, late = pooled+c.pooled, kills+c.crowd.kills, settled+c.settled, late+c.late
					helped, chosen, messages, letters, changes = helped+c.helped, chosen+c.chosen, messages+c.messages, letters+c.letters, changes+c.changes
					for kind, n := range c.kinds { // any order: a sum
						kinds[kind] += n
					}
					broken += c.broken
					if barred += c.barred; c.repeated {
						repeated++
					}
					for _, s := range c.runs {
						people += len(s.j.ended)
						calls += len(s.asked)
						more += len(s.asked) - len(s.calls)
						if s.caller != "" && s.j.cancels > 0 {
							cancelled++
						}
					}
					sums.Unlock()
				}
			})
		}
	})
	t.Logf("%d runs were parked %d times and had %d turns, %d would never have had theirs; %d attempts of pools; %d drivers died alone", runs, parked, turns, circles, pooled, kills)
	t.Logf("people settled %d asks, %v, and %d decisions came too late; breakers refused %d attempts", settled, kinds, late, broken)
	t.Logf("pools of people and agents have chosen people %d times, and agents %d times", chosen, helped)
	if n >= 200 && (chosen < n/20 || helped < n/20) {
		t.Error("pools of people and agents have chosen too little")
	}
	t.Logf("%d messages were sent, and %d about hand-overs are dead letters", messages, letters)
	if n >= 200 && (messages < n || letters < n/20) {
		t.Error("too few messages, or dead letters")
	}
	for _, kind := range event.AskKinds {
		if n >= 1000 && kinds[kind] == 0 { // 2,000 seeds ask 39 times about a budget
			t.Errorf("no ask of the kind %s was settled", kind)
		}
	}
	t.Logf("%d messages told of breakers", changes)
	if n >= 200 && changes == 0 {
		t.Error("no message told of a breaker")
	}
	if n >= 200 && broken == 0 {
		t.Error("no breaker has refused an attempt")
	}
	t.Logf("%d seeds, %+v, %d calls, %d of them once more, %d cancelled, %d nodes cancelled by people, %d runs repeated, %d nodes blocked by a stop, %.0f seeds a minute", n, all, calls, more, cancelled, people, repeated, barred, float64(n)/time.Since(start).Minutes())
	if all.Crashes < n || all.Jumps < n/10 || all.Twice < n/10 || all.Silent < n/10 || all.Back < n/10 || all.Slow < n/2 || all.Stale < n/10 || all.Busy < n/10 || calls < n || more < n/10 || cancelled < n/20 || people < n/20 || repeated < n/4 || all.Parked < n/20 || parked < n/2 || turns < n/4 || pooled < n || kills < n/20 || settled < n/10 || late < n/10 || barred == 0 && n >= 200 {
		t.Errorf("too little goes wrong in these simulations: the faults are not what they are meant to be")
	}
}

// TestSameSeedSameBytes runs a seed twice: the journals are equal to the byte.
func TestSameSeedSameBytes(t *testing.T) {
	for seed := uint64(1); seed <= 50; seed++ {
		first, second := newCase(t, seed), newCase(t, seed)
		first.run(t, faulty)
		second.run(t, faulty)
		if a, b := first.bytes(t), second.bytes(t); !bytes.Equal(a, b) {
			t.Fatalf("seed %d: two journals of %d and %d bytes", seed, len(a), len(b))
		}
	}
}

// TestOtherSeedOtherBytes keeps the test above honest.
func TestOtherSeedOtherBytes(t *testing.T) {
	a, b := newCase(t, 1), newCase(t, 1)
	a.run(t, faulty)
	b.seed = 2
	b.run(t, faulty)
	if bytes.Equal(a.bytes(t), b.bytes(t)) {
		t.Fatal("the seed changes nothing")
	}
}

var faulty = sim.Faults{CrashBeforeCommit: 0.05, CrashAfterCommit: 0.05, CrashMidway: 0.05, Twice: 0.1, ClockJump: 0.02, Silent: 0.03, Back: 0.05, Slow: 0.1, Busy: 0.2, CrashParked: 0.03}

func simulate(t *testing.T, seed uint64, verbose bool) *simulation {
	c := newCase(t, seed)
	if verbose {
		t.Logf("the program of seed %d:\n%s", seed, c.source)
	}
	c.run(t, faulty)
	c.checkHandoffs(t)
	c.checkMessages(t, false)
	c.repeated = !t.Failed() && c.repeat(t)
	if t.Failed() || !c.untimed {
		return c
	}
	calm := newCase(t, seed)
	calm.run(t, sim.Faults{})
	calm.checkMessages(t, true)
	calm.repeat(t)
	if a, b := c.endings(), calm.endings(); c.crowd.circles+calm.crowd.circles == 0 && !maps.Equal(a, b) {
		t.Errorf("seed %d: with faults the runs end\n%q\nand without\n%q", seed, a, b)
	}
	return c
}

// ending is a run's end without its error: which of two failures came first is a matter of time. So are the numbers of handed-over work.
func ending(e event.End) string {
	return string(e.Status) + " " + workNumber.ReplaceAllString(string(value.Append(nil, map[string]any(e.Outputs))), "ds-N")
}

var workNumber = regexp.MustCompile(`ds-[0-9]+`)

// handed are the items of work that runs have handed over.
func (c *simulation) handed(t *testing.T) (items []event.Item) {
	t.Helper()
	v, err := sim.New(c.store, sim.Options{}).Ask(context.Background(), event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range v.(map[string]any)["items"].([]any) {
		i, err := event.ItemOf(o)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, i)
	}
	return items
}

// checkHandoffs fails if a node has handed its work over twice.
func (c *simulation) checkHandoffs(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	for _, i := range c.handed(t) {
		from := i.Handoff.Run + " " + i.Handoff.Node
		if seen[from] {
			t.Errorf("seed %d: %s has handed its work over twice", c.seed, from)
		}
		seen[from] = true
	}
}

// simulation is one random program in one simulated world.
type simulation struct {
	seed    uint64
	source  string
	untimed bool
	// repeated tells that the run was repeated by another one.
	repeated bool
	barred   int // nodes that needed one whose failure stopped their run
	pooled   int // attempts of steps that a pool has
	undone   int // groups, waits and approvals that were undone
	helped   int // attempts of steps for which a pool of people and agents has chosen an agent
	chosen   int // tasks for which such a pool has chosen a person
	crowd    crowd
	program  *ir.Program
	store    *sim.Store
	engine   *sim.Engine
	end      event.End

	// What the world has seen.
	runs  map[string]*seen // by id
	keys  map[string]work
	acked map[string]bool
	// given are the attempts after which somebody else was given the task, who need not have begun: the host may have refused it to him.
	given map[string]bool
	t     *testing.T
	// asked and askedAt are what people were asked, by run and number, and how often at each node of each run. settled counts what they
	// have settled, and late the decisions that came too late.
	asked         map[string]bool
	askedAt       map[string]int
	settled, late int
	kinds         map[event.AskKind]int // how many asks of each kind were settled
	broken        int                   // refusals of breakers
	// told counts the sends of each message, by its key and by the work that was handed over. letters are dead letters about such work.
	told              map[string]int
	messages, letters int
	changes           int // messages about breakers
}

func newCase(t *testing.T, seed uint64) *simulation {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	c := &simulation{seed: seed, untimed: seed%3 != 0, runs: map[string]*seen{}, keys: map[string]work{}, acked: map[string]bool{}, given: map[string]bool{}, crowd: alone(), kinds: map[event.AskKind]int{}, told: map[string]int{}, t: t}
	draw := func() (*dsl.Program, diag.List) {
		var people, patterns *rand.Rand
		if hasPeople(seed) {
			people = rand.New(rand.NewPCG(seed, 3))
		}
		if hasPatterns(seed) {
			patterns = rand.New(rand.NewPCG(seed, 4))
		}
		c.source = randomProgram(r, rand.New(rand.NewPCG(seed, 2)), people, patterns, 1+r.IntN(16), !c.untimed, hasEvents(seed))
		return dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(c.source)}}, "w.flow.hcl", dsl.Options{})
	}
	p, diags := draw()
	for diags.HasErrors() && isCircle(diags) {
		p, diags = draw()
	}
	if diags.HasErrors() {
		t.Fatalf("seed %d: the random program is refused: %v\n%s", seed, diags, c.source)
	}
	c.program = p.IR
	season(r, c.program, !c.untimed, hasPeople(seed))
	adapt(t, rand.New(rand.NewPCG(seed, 16)), c.program)
	tell(rand.New(rand.NewPCG(seed, 17)), c.program)
	return c
}

// TestMendedSeeds runs seeds beyond the first ones that found faults.
func TestMendedSeeds(t *testing.T) {
	for _, seed := range []uint64{204, 708, 778, 870, 1014, 1125, 1131, 1164, 1427, 1454, 1494, 1629, 1689, 1716, 1842, 1926, 2214, 2421, 2542, 4107, 5254, 5499, 5505, 6818, 10434, 12153, 12255, 13527, 13536, 14061, 14214, 15017, 19974, 23820, 23997, 28785, 33138, 34594, 35571, 39540, 41469, 51207} {
		simulate(t, seed, false)
	}
}

// isCircle reports whether a program is refused because its nodes could wait for each other's quotas, and for nothing else.
func isCircle(diags diag.List) bool {
	return !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Severity == diag.Error && d.Code != "F0142" })
}

const root = "simulated000"

// start makes the run of the program, in a world with faults.
func (c *simulation) start(t *testing.T, f sim.Faults) {
	t.Helper()
	c.store = sim.NewStore(c.seed)
	c.engine = sim.New(c.store, sim.Options{Factory: factory, Restore: c.restore(), Events: awaited, World: c, Faults: f, DeathLimit: 1000, Watch: c.watch, Group: c.group,
		Window: engine.Window{Attempts: int(c.seed % 5)}})
	c.runs, c.asked, c.askedAt = map[string]*seen{}, map[string]bool{}, map[string]int{}
	c.startCrowd(t)
}

// first is how the run begins. Of every other one something is expected, right or wrong, so that its steps start in
// another order than that of the file.
func (c *simulation) first() event.RunStarted {
	first := event.RunStarted{Workflow: "w", Dir: "/"}
	if c.seed%2 == 0 {
		return first
	}
	r := rand.New(rand.NewPCG(c.seed, 2))
	first.ExpectedUS, first.ExpectedTimes = map[string]int64{}, map[string]int{}
	var expect func([]ir.Node)
	expect = func(nodes []ir.Node) {
		for i := range nodes {
			if n := &nodes[i]; r.IntN(4) > 0 {
				first.ExpectedUS[n.Name] = r.Int64N(30e6)
				if multiple(n) {
					first.ExpectedTimes[n.Name] = r.IntN(10)
				}
			}
			expect(nodes[i].Children)
		}
	}
	expect(c.program.Workflow("w").Nodes)
	return first
}

// drive drives a run to its end, in as many lives as it takes.
func (c *simulation) drive(run string, w engine.Watcher) (end event.End, err error) {
	for {
		c.died()
		if end, err = c.engine.Drive(context.Background(), run, w); !errors.Is(err, sim.ErrCrashed) {
			return end, err
		}
	}
}

func (c *simulation) run(t *testing.T, f sim.Faults) {
	t.Helper()
	c.gather()
	c.start(t, f)
	cancelAt, cancels := -1, 1+int(c.seed/2%2)
	if !c.untimed && c.seed%2 == 0 {
		cancelAt = int(c.seed % 40)
	}
	cancelNodes := c.cancelNodes()
	watch := func(events []event.Event, reaction *event.Reaction, replayed bool) {
		if cancelNodes != nil {
			cancelNodes(events, reaction, replayed)
		}
		if cancelAt >= 0 && !replayed && events[len(events)-1].Seq >= uint64(cancelAt) {
			if cancelAt += int(c.seed % 5); cancels == 1 {
				cancelAt = -1
			}
			cancels--
			_ = c.engine.Cancel(context.Background(), root, "the simulation says so")
		}
	}
	var err error
	if c.crowd.all {
		err = c.driveAll()
		c.end = c.crowd.ends[root]
	} else if c.crowd.r != nil {
		err = c.driveCrowd(func(run string) engine.Watcher {
			if run == root {
				return watch
			}
			return nil
		})
		c.end = c.crowd.ends[root]
	} else {
		c.end, err = c.drive(root, watch)
	}
	if err != nil {
		t.Errorf("seed %d: %v", c.seed, err)
		return
	}
	c.outlived()
	for _, id := range slices.Sorted(maps.Keys(c.runs)) {
		if s := c.runs[id]; s.end != nil {
			c.judge(s)
			c.replay(t, id)
		}
	}
}

// loaded are the programs that were loaded last: half of a simulation's time would go into loading them for every life of every run.
var loaded struct {
	sync.Mutex
	recent []loadedProgram
}

type loadedProgram struct {
	definition []byte
	program    *ir.Program
}

func load(definition []byte) (*ir.Program, error) {
	loaded.Lock()
	defer loaded.Unlock()
	for _, l := range loaded.recent {
		if bytes.Equal(l.definition, definition) {
			return l.program, nil
		}
	}
	p, err := ir.Load(definition)
	if err == nil {
		old := loaded.recent[max(0, len(loaded.recent)+1-2*runtime.GOMAXPROCS(0)):]
		loaded.recent = append(slices.Clone(old), loadedProgram{definition, p})
	}
	return p, err
}

func factory(h journal.Header, definition []byte) (engine.Machine, error) {
	p, err := load(definition)
	if err != nil {
		return nil, err
	}
	g, err := plan.Build(p, h.Workflow)
	if err != nil {
		return nil, err
	}
	return machine.New(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules()), nil
}

// restore returns what restores the runs of one simulation in eight, whenever they are driven again; in the others it is nil.
func (c *simulation) restore() func(h journal.Header, definition, state []byte) (engine.Machine, error) {
	if c.seed%uint64(max(1, *restoredOne/8)) != 0 {
		return nil
	}
	return restore
}

// restore makes the machine of a state.
func restore(h journal.Header, definition, state []byte) (engine.Machine, error) {
	p, err := load(definition)
	if err != nil {
		return nil, err
	}
	g, err := plan.Build(p, h.Workflow)
	if err != nil {
		return nil, err
	}
	return machine.Restore(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules(), state)
}

// awaited are the names of the events that a run waits for.
func awaited(definition []byte, first event.RunStarted) ([]string, error) {
	p, err := load(definition)
	if err != nil {
		return nil, err
	}
	g, err := plan.Build(p, first.Workflow)
	if err != nil {
		return nil, err
	}
	return g.Events(), nil
}

func attemptID(run, node, gate string, compensate bool, attempt int) string {
	if compensate {
		gate += " compensation"
	}
	return fmt.Sprintf("%s %s %s #%d", run, node, gate, attempt)
}

// work is what an attempt is at.
type work struct{ key, agent string }

// samework checks a key: an attempt at the same work as the one before has its key, and work that was rejected or that
// another agent has is not the same.
func (c *simulation) samework(a event.Attempt) {
	id, is := attemptID(a.Run, a.Node, a.Gate, a.Compensate, a.Attempt), work{key: a.Key}
	if a.Agent != nil {
		is.agent = a.Agent.Name
	}
	if !slices.Contains(event.AttemptKinds, a.Kind) {
		c.t.Errorf("seed %d: %s has the kind %q, which no executor carries out", c.seed, id, a.Kind)
	}
	if was, seen := c.keys[id]; seen && was != is {
		c.t.Errorf("seed %d: %s was %v and is %v", c.seed, id, was, is)
	}
	c.keys[id] = is
	if a.Attempt == 1 || a.Gate != "" || a.Compensate {
		return
	}
	before := attemptID(a.Run, a.Node, "", false, a.Attempt-1)
	was, started := c.keys[before]
	if !started {
		return // its driver died first
	}
	if other := c.acked[before] || c.given[before] || was.agent != is.agent; other == (was.key == is.key) {
		c.t.Errorf("seed %d: %s is %v after %v; other work: %v", c.seed, id, is, was, other)
	}
}

// noteGiven notes which tasks were given to somebody else.
func (c *simulation) noteGiven(run string, r *event.Reaction) {
	for _, t := range r.Transitions {
		if givesTask.MatchString(t.Reason) {
			c.given[attemptID(run, t.Node, "", false, t.Attempt)] = true
		}
	}
}

var givesTask = regexp.MustCompile(`^level "\w+" gives the task to |; (agent|pool) "\w+" takes over from `)

// Attempt implements sim.World: the outcome depends on the seed, the node and the attempt alone, so that faults can't
// change it; how long it takes is chance.
func (c *simulation) Attempt(a event.Attempt, r *rand.Rand) (event.AttemptFinished, time.Duration) {
	if a.Kind == event.NotifyAttempt {
		return c.send(&a), time.Duration(r.Int64N(int64(10 * time.Second)))
	}
	id := attemptID(a.Run, a.Node, a.Gate, a.Compensate, a.Attempt)
	if c.acked[id] {
		c.t.Errorf("seed %d: %s was acknowledged and is started again", c.seed, id)
	}
	c.samework(a)
	s := c.runs[a.Run]
	if _, live := s.live[a.Ticket]; live {
		c.t.Errorf("seed %d: %s is started while it runs", c.seed, id)
	}
	s.live[a.Ticket] = a
	c.takesTurn(a.Run)
	again := !s.numbers.starts(a.Ticket)
	c.bounds(s, a.Node, again)
	if n, most := len(s.live), s.numbers.most("", s.w.MaxConcurrency, again); n > most {
		c.t.Errorf("seed %d: %d attempts are live, and the workflow allows %d", c.seed, n, most)
	}
	c.able(a)
	for i := range c.program.Agents {
		g := &c.program.Agents[i]
		if a.Agent == nil || a.Agent.Name != g.Name || g.Concurrency == nil {
			continue
		}
		n := 0
		for _, s := range c.runs { // any order: it only counts
			for _, l := range s.live {
				if l.Agent != nil && l.Agent.Name == g.Name {
					n++
				}
			}
		}
		if most := int(g.Concurrency.Const.(float64)); n > most {
			c.t.Errorf("seed %d: %d attempts of the agent are live in all runs, and it allows %d", c.seed, n, most)
		}
	}
	return c.outcome(s.name, a), time.Duration(r.Int64N(int64(30 * time.Second)))
}

// able checks that an agent has the capabilities that its step asks for, and is a member of the pool where there is one.
func (c *simulation) able(a event.Attempt) {
	if a.Agent == nil || a.Agent.Name == "spare" || a.Gate != "" {
		return
	}
	task := did[*ir.AgentTask](node(c.program.Workflow(a.Workflow).Nodes, a.Name))
	if task.Pool == "folk" {
		c.helped++
	} else if task.Pool != "" {
		at := slices.IndexFunc(c.program.Pools, func(p ir.Pool) bool { return p.Name == task.Pool })
		if members := c.program.Pools[at].Members; !slices.Contains(members, a.Agent.Name) {
			c.t.Errorf("seed %d: %s was given to %q, and the pool has %q", c.seed, a.Node, a.Agent.Name, members)
		}
		c.pooled++
	}
	for _, g := range c.program.Agents {
		for _, wanted := range task.Capabilities {
			if g.Name == a.Agent.Name && !slices.Contains(g.Capabilities, wanted) {
				c.t.Errorf("seed %d: %s asks for %q, and agent %q has %q", c.seed, a.Node, wanted, g.Name, g.Capabilities)
			}
		}
	}
}

// bounds checks the limits of the groups around a node on what is live below them at once, calls included.
func (c *simulation) bounds(s *seen, path string, holds bool) {
	for up := path; strings.Contains(up, "/"); {
		up = up[:strings.LastIndexByte(up, '/')]
		group := node(s.w.Nodes, strings.SplitN(up[strings.LastIndexByte(up, '/')+1:], "[", 2)[0])
		if group == nil || group.MaxConcurrency == nil && len(group.Adapt) == 0 {
			continue
		}
		inside := up
		if group.ForEach != nil {
			inside = inside[:strings.LastIndexByte(inside, '[')]
		}
		n := 0
		for _, l := range s.under() {
			if rest, below := strings.CutPrefix(l, inside); below && rest != "" && (rest[0] == '/' || rest[0] == '[') {
				n++
			}
		}
		if most := s.numbers.most(inside, group.MaxConcurrency, holds); n > most {
			c.t.Errorf("seed %d: %d attempts and calls are live in %s, and it allows %d: %v", c.seed, n, inside, most, s.under())
		}
	}
}

func node(nodes []ir.Node, name string) *ir.Node {
	for i := range nodes {
		if nodes[i].Name == name {
			return &nodes[i]
		}
		if n := node(nodes[i].Children, name); n != nil {
			return n
		}
	}
	return nil
}

func (c *simulation) outcome(run string, a event.Attempt) event.AttemptFinished {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, c.seed))
	fmt.Fprint(h, run, a.Node, a.Gate, a.Attempt, a.Compensate)
	f := event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate, Outcome: event.OK}
	if a.Agent != nil && a.Agent.Name == "helper" {
		c.help(run, &f)
		return f
	}
	if dice := h.Sum64() >> 30; a.Agent != nil && dice%4 > 0 {
		f.Usage = &event.Usage{InputTokens: int64(dice >> 2 % 20), OutputTokens: int64(dice >> 7 % 20), CostUSD: float64(dice>>12%50) / 1000}
	}
	switch dice := (h.Sum64() >> 20) % 100; {
	case dice < 70:
		zero := 0
		f.Stdout, f.ExitCode = fmt.Sprintf("out of %s\n", a.Node), &zero
		switch {
		case a.HTTP != nil:
			f.Output, f.ExitCode, f.Stdout = map[string]any{"status": 200.0, "headers": map[string]any{}, "body": "out of " + a.Node}, nil, ""
		case a.Remember != nil:
			f.Output, f.ExitCode, f.Stdout = map[string]any{"id": "out of " + a.Node, "known": false}, nil, ""
		case a.Recall != nil:
			f.Output, f.ExitCode, f.Stdout = map[string]any{"count": 0.0, "items": []any{}, "text": "out of " + a.Node}, nil, ""
		case a.Agent != nil && a.Gate != "":
			f.Output, f.ExitCode, f.Stdout = map[string]any{"findings": []any{}}, nil, ""
		case a.Agent != nil:
			f.Output, f.ExitCode, f.Stdout = a.Agent.With, nil, ""
		}
	default:
		kinds := []event.ErrorKind{event.Transient, event.RateLimited, event.Recoverable, event.Blocking, event.Fatal}
		f.Outcome = event.Failed
		f.Error = &event.Error{Kind: kinds[dice%5], Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1}
		f.Stderr = fmt.Sprintf("problem %d\n", dice%3)
	}
	return f
}

// replay folds the journal once more, in slices of one, on a machine of its own, which is written as bytes and restored after one event in
// restoredOne.
func (c *simulation) replay(t *testing.T, run string) {
	t.Helper()
	var r event.Reaction
	var batches []journal.Batch
	h, definition, err := c.engine.Journal(context.Background(), run, func(b journal.Batch) error {
		batches = append(batches, b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := load(definition)
	if err != nil {
		t.Fatal(err)
	}
	g, err := plan.Build(p, h.Workflow)
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(c.seed, 19))
	fold := engine.NewFold(h, snapshottest.NewMachine(g, expr.NewEvaluator(ir.NewestRules()), ir.NewestRules(), func() bool { return dice.IntN(*restoredOne) == 0 }))
	fold.SetSlice(1)
	for _, b := range batches {
		if _, err := fold.Replay(b, &r); err != nil {
			t.Errorf("seed %d: %v", c.seed, err)
			return
		}
	}
	if end := *c.runs[run].end; fold.End() == nil || ending(*fold.End()) != ending(end) {
		t.Errorf("seed %d: replayed, the run ends %+v; it ended %+v", c.seed, fold.End(), end)
	}
}

func (c *simulation) bytes(t *testing.T) []byte {
	t.Helper()
	var all []byte
	for _, id := range slices.Sorted(maps.Keys(c.runs)) {
		if _, _, err := c.engine.Journal(context.Background(), id, func(b journal.Batch) error {
			all = binary.LittleEndian.AppendUint64(all, b.Digest)
			all = append(append(all, b.Link[:]...), b.Body...)
			return nil
		}); err != nil && !errors.Is(err, engine.ErrNoRun) {
			t.Fatal(err)
		}
	}
	return all
}
