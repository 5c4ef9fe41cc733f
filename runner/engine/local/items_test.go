package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// TestProcessesRaceForItems has processes race for items whose leases have run out once. Each is killed before or after one of its commits,
// several times, and another process goes on with its run. Each item has one winner, its work is done once, and nobody else's token counts.
// The large test is
//
//	go test ./runner/engine/local -run TestProcessesRaceForItems -shared.processes 64 -shared.steps 1000 -shared.kills 5 -timeout 60m -v
func TestProcessesRaceForItems(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK})
	claim := func(r event.ClaimRequest) event.Claim {
		t.Helper()
		v, err := e.Ask(context.Background(), event.StoreRequest{Claim: &r})
		if err != nil {
			t.Fatal(err)
		}
		c, err := event.ClaimOf(v)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	items := make([]string, *sharedSteps)
	for i := range items {
		items[i] = fmt.Sprintf("backlog/%04d", i)
		claim(event.ClaimRequest{Operation: event.ClaimTake, Item: items[i], Loop: "old", Agent: "dead", Lease: 1})
	}
	began := time.Now()
	var wait sync.WaitGroup
	runs, killed, again := make([]string, *sharedProcesses), make([]int, *sharedProcesses), make([]int, *sharedProcesses)
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 16))
		order := make([]string, len(items))
		for to, from := range rng.Perm(len(items)) {
			order[to] = items[from]
		}
		runs[i] = begin(t, e, enginetest.Taking(order))
		wait.Go(func() {
			for {
				o := childOrder{Dir: s.dir, Run: runs[i]}
				if killed[i] < *sharedKills { // from the third commit on, so that the run makes progress
					o.KillAt, o.KillAfter = 3+rng.IntN(max(*sharedSteps/(*sharedKills+1), 1)), rng.IntN(2) == 0
				}
				c := startChild(t, o)
				line := c.line()
				if c.Wait() != nil {
					killed[i]++
				} else if line == "end succeeded <nil>" {
					return
				} else if again[i]++; !strings.Contains(line, ErrBusy.Error()) || again[i] > 100 {
					t.Errorf("a process says %q", line)
					return
				}
			}
		})
	}
	wait.Wait()
	took, kills, busy, losers := time.Since(began), 0, 0, 0
	winner := map[string]string{}
	for i, run := range runs {
		kills, busy = kills+killed[i], busy+again[i]
		end, err := e.Drive(context.Background(), run, nil)
		if err != nil {
			t.Fatal(err)
		}
		won := enginetest.Won(end.Outputs)
		losers += len(items) - len(won)
		for _, item := range won {
			if winner[item] != "" {
				t.Errorf("%s has the winners %s and %s", item, winner[item], run)
			}
			winner[item] = run
		}
	}
	if len(winner) != len(items) || losers != len(items)*(len(runs)-1) {
		t.Errorf("%d items have winners, and %d claims lost; want %d and %d", len(winner), losers, len(items), len(items)*(len(runs)-1))
	}
	for _, item := range items {
		done, err := e.Ask(context.Background(), event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "default", Key: "work " + item}})
		if err != nil || done != 1.0 {
			t.Errorf("the work of %s was done %v times (%v)", item, done, err)
		}
		for token := range uint64(3) {
			late := claim(event.ClaimRequest{Operation: event.ClaimClose, Item: item, Token: token})
			if late.Won || late.Token != 2 || late.State != event.ClaimClosed || late.Agent != winner[item] {
				t.Errorf("a late report of %s under token %d gets %+v", item, token, late)
			}
		}
	}
	if *sharedSteps >= 10 && kills < *sharedProcesses {
		t.Errorf("only %d kills: they prove little", kills)
	}
	t.Logf("%d processes, %d items: %v, %d kills, %d times busy for %s", len(runs), len(items), took.Round(time.Millisecond), kills, busy, durable.BusyTimeout)
}
