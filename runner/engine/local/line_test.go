package local

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

var lineWaiting = flag.Int("line.waiting", 150, "how many attempts TestLongLine has wait; from 10,000 on it asserts what they take, and the time of a grant")

// Many attempts wait for a quota, and as many for a breaker. They are served in order, each at a cost that does not grow with the line.
func TestLongLine(t *testing.T) {
	e, err := Open(t.TempDir()+"/.flowrun", Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	epoch, err := e.registerDriver()
	if err != nil {
		t.Fatal(err)
	}
	n := *lineWaiting
	quota := event.Need{Kind: event.NeedQuota, Name: "gpu", Units: 1, Capacity: 1}
	broken := event.Need{Kind: event.NeedAgent, Name: "coder", Breaker: &event.Breaker{Failures: 1, Reset: time.Hour}}
	x := &admitting{engine: e, run: &claimed{epoch: epoch}}
	operate := func(op admission.Operation) admission.Answer {
		t.Helper()
		a, err := x.runOperation(op)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	ask := func(key string, need event.Need) admission.Answer {
		t.Helper()
		return operate(admission.Operation{Ask: &admission.Request{Key: key, Run: key, Node: "n", Ticket: 1, Driver: epoch, Needs: []event.Need{need}}})
	}
	ask("holder", quota)
	ask("bad", broken)
	operate(admission.Operation{End: []admission.End{{Key: "bad", Endings: []shared.Ending{shared.Bad}}}})
	began := time.Now()
	for i := range n {
		for name, need := range map[string]event.Need{"quota": quota, "breaker": broken} { // any order: the lines are apart
			if a := ask(fmt.Sprint(name, i), need); a.Verdict == admission.Queued {
				operate(admission.Operation{Refuse: fmt.Sprint(name, i)})
			}
		}
	}
	t.Logf("%d attempts stand in two lines after %v", 2*n, time.Since(began).Round(time.Millisecond))
	if n >= 10_000 {
		const rest = 5 * time.Second
		worked := cpuTime()
		time.Sleep(rest)
		used := cpuTime() - worked
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		t.Logf("while they wait, the process takes %v of processor in %v, and has %d MB of heap", used, rest, m.HeapAlloc>>20)
		if used > rest/20 || m.HeapAlloc > 200<<20 {
			t.Error("that is too much")
		}
	}

	var took []time.Duration
	last := "holder"
	served := min(n/2, 200)
	for i := range served {
		began := time.Now()
		a := operate(admission.Operation{End: []admission.End{{Key: last}}})
		took = append(took, time.Since(began))
		if last = fmt.Sprint("quota", i); len(a.Granted) != 1 || a.Granted[0].Key != last {
			t.Fatalf("after %d ends %d are granted, and %s is next", i+1, len(a.Granted), last)
		}
	}
	slices.Sort(took)
	median := took[served/2]
	t.Logf("of %d grants one took %v in the median, and %v at most", served, median, took[served-1])

	// The last one has its turn as soon as all before it have left.
	var gone []string
	for i := served; i < n-1; i++ {
		gone = append(gone, fmt.Sprint("quota", i))
	}
	began = time.Now()
	operate(admission.Operation{Remove: gone})
	t.Logf("%d of them left together in %v", len(gone), time.Since(began).Round(time.Millisecond))
	began = time.Now()
	a := operate(admission.Operation{End: []admission.End{{Key: last}}})
	tail := time.Since(began)
	if want := fmt.Sprint("quota", n-1); len(a.Granted) != 1 || a.Granted[0].Key != want {
		t.Errorf("%d are granted, and %s is the last", len(a.Granted), want)
	}
	t.Logf("the last of %d is granted after %v", n, tail)
	if n >= 10_000 && (median > 100*time.Millisecond || tail > 100*time.Millisecond) {
		t.Errorf("a grant took %v in the median, and that of the last %v", median, tail)
	}

	// The breaker is closed by a person: all that wait are granted.
	changed, err := e.ChangeLimit(context.Background(), event.LimitChange{Reset: "coder"})
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	began = time.Now()
	for granted := 0; granted < n; time.Sleep(time.Millisecond) {
		if err := e.read.QueryRow("SELECT count(*) FROM admissions WHERE granted != 0 AND key LIKE 'breaker%'").Scan(&granted); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("%d are granted after the reset", granted)
		}
	}
	t.Logf("all %d are granted %v after the reset", n, time.Since(began).Round(time.Millisecond))
}

// Requests that stand in a line only as soon as they have something else do not hide those behind them, however many they are: whoever
// asked first goes first.
func TestNobodyOvertakesInLongLine(t *testing.T) {
	e, err := Open(t.TempDir()+"/.flowrun", Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	epoch, err := e.registerDriver()
	if err != nil {
		t.Fatal(err)
	}
	x := &admitting{engine: e, run: &claimed{epoch: epoch}}
	operate := func(op admission.Operation) (granted []string) {
		t.Helper()
		a, err := x.runOperation(op)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range a.Granted {
			granted = append(granted, r.Key)
		}
		return granted
	}
	first := event.Need{Kind: event.NeedQuota, Name: "first", Units: 1, Capacity: 1}
	second := event.Need{Kind: event.NeedQuota, Name: "second", Units: 1, Capacity: 1}
	ask := func(key string, needs ...event.Need) []string {
		t.Helper()
		return operate(admission.Operation{Ask: &admission.Request{Key: key, Run: key, Node: "n", Ticket: 1, Driver: epoch, Needs: needs}})
	}
	ask("holder", first)
	ask("using", second)
	for i := range admission.Horizon + 6 {
		ask(fmt.Sprint("both", i), first, second)
	}
	for _, key := range []string{"a", "b"} {
		ask(key, second)
	}
	if got := fmt.Sprint(operate(admission.Operation{End: []admission.End{{Key: "using"}}})); got != "[a]" {
		t.Errorf("the end of the use grants %s", got)
	}
	if got := fmt.Sprint(operate(admission.Operation{Remove: []string{"a"}}), ask("c", second)); got != "[b] []" {
		t.Errorf("the next are %s", got)
	}
	operate(admission.Operation{Remove: []string{"holder"}})
	operate(admission.Operation{Remove: []string{"b"}})
	if granted, err := e.grantOf("both0", epoch); err != nil || granted == 0 {
		t.Errorf("the first of the others is not granted: %v", err)
	}
}

// What a dead process asked for and had is not told any more, though nobody has removed it yet.
func TestLimitsWithoutTheDead(t *testing.T) {
	e, err := Open(t.TempDir()+"/.flowrun", Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	epoch, err := e.registerDriver()
	if err != nil {
		t.Fatal(err)
	}
	x := &admitting{engine: e, run: &claimed{epoch: epoch}}
	for i, driver := range []int64{epoch + 1000, epoch, epoch + 1000, epoch} {
		r := &admission.Request{Key: fmt.Sprint(i), Run: fmt.Sprint(i), Node: "n", Ticket: 1, Driver: driver,
			Needs: []event.Need{{Kind: event.NeedQuota, Name: "gpu", Units: 1, Capacity: 2}}}
		if _, err := x.runOperation(admission.Operation{Ask: r}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := e.Limits(t.Context())
	if err != nil || len(list) != 1 || list[0].Used != 1 || len(list[0].Waiting) != 1 || list[0].Waiting[0].Run != "3" {
		t.Errorf("%+v, %v", list, err)
	}
}

// What a program says of a quota is said again until a transaction with it is durable.
func TestDeclaredOnceDurable(t *testing.T) {
	e, err := Open(t.TempDir()+"/.flowrun", Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	epoch, err := e.registerDriver()
	if err != nil {
		t.Fatal(err)
	}
	x := &admitting{engine: e, run: &claimed{epoch: epoch}}
	r := &admission.Request{Key: "a", Run: "a", Node: "n", Ticket: 1, Driver: epoch, Needs: []event.Need{{Kind: event.NeedQuota, Name: "gpu", Units: 1, Capacity: 2}}}
	for range 2 { // transactions that fail
		if news := e.line.undeclared(r.Needs); len(news) != 1 {
			t.Errorf("%d of 1 needs are to be said", len(news))
		}
	}
	if _, err := x.runOperation(admission.Operation{Ask: r}); err != nil {
		t.Fatal(err)
	}
	if news := e.line.undeclared(r.Needs); len(news) != 0 {
		t.Errorf("%d needs are said again", len(news))
	}
	if _, err := x.runOperation(admission.Operation{Remove: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	if list, err := e.Limits(t.Context()); err != nil || len(list) != 1 || list[0].Capacity != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}
