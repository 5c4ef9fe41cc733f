package sim_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/notify"
)

// tell lets a random program tell channels what its nodes do. One channel takes each message, one takes no equal ones, and one takes
// nothing.
func tell(r *rand.Rand, p *ir.Program) {
	lit := func(v value.Value) *ir.Expr { return ir.Lit(v, value.StringType) }
	for _, name := range []string{"open", "calm", "deaf"} {
		c := ir.Channel{Name: name, Type: ir.ChannelFile, Path: lit(name)}
		if name != "calm" {
			c.Dedupe = lit("0s")
		}
		p.Channels = append(p.Channels, c)
	}
	to := func() []string {
		return [][]string{nil, {"open"}, {"deaf"}, {"calm"}, {"open", "calm", "deaf"}}[r.IntN(5)]
	}
	for i := range p.Escalations {
		for j := range p.Escalations[i].Levels {
			p.Escalations[i].Levels[j].Notify = to()
		}
	}
	for i := range p.Workflows {
		w := &p.Workflows[i]
		if w.Budget != nil {
			w.Budget.Notify = to()
		}
		eachNode(w.Nodes, func(n *ir.Node) {
			if n.Budget != nil {
				n.Budget.Notify = to()
			}
			if n.Deadline != nil {
				n.Deadline.Notify = to()
			}
			if a := did[*ir.Approve](n); a != nil {
				a.Notify = to()
			}
			if h := did[*ir.Handoff](n); h != nil {
				h.Notify = to()
			}
		})
	}
	all := breakers(p)
	for _, of := range slices.Sorted(maps.Keys(all)) {
		all[of].Notify = to()
	}
}

// breakers are those of a program, by what they are of.
func breakers(p *ir.Program) map[string]*ir.Breaker {
	out := map[string]*ir.Breaker{}
	for i := range p.Agents {
		if b := p.Agents[i].Breaker; b != nil {
			out["agent "+p.Agents[i].Name] = b
		}
	}
	for i := range p.Quotas {
		if b := p.Quotas[i].Breaker; b != nil {
			out["quota "+p.Quotas[i].Name] = b
		}
	}
	return out
}

// send carries out an attempt that sends a message. The process may die before, between and behind the questions to the store.
func (c *simulation) send(a *event.Attempt) event.AttemptFinished {
	ans := executor.Answer(*a)
	p, err := notify.Begin(context.Background(), c.engine.Ask, a)
	if err != nil {
		executor.Fail(&ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, ExitCode: -1, Message: err.Error()})
		return ans
	}
	for i := range p.Sends {
		s := &p.Sends[i]
		if data, _ := s.Message.Data.(map[string]any); s.Message.Kind == event.MessageBreaker {
			of := fmt.Sprint(data["kind"], " ", data["name"])
			if b := breakers(c.program)[of]; b == nil || !slices.Contains(b.Notify, s.Channel.Name) {
				c.t.Errorf("seed %d: channel %q is told of the breaker of %s", c.seed, s.Channel.Name, of)
			}
			c.changes++
		}
		if s.Channel.Name == "deaf" {
			p.Ended(s, errors.New("nobody listens"))
			continue
		}
		c.told[s.Channel.Name+" "+s.Message.Key]++
		c.messages++
		if data, _ := s.Message.Data.(map[string]any); s.Message.Kind == event.MessageHandoff {
			c.told[fmt.Sprint(s.Channel.Name, " ", data["id"])]++
		}
		p.Ended(s, nil)
	}
	p.Finish(context.Background(), c.engine.Ask, &ans, func(text string) string { return text })
	return ans
}

// checkMessages fails if nobody was told of work that was handed over, though the program says so, and the message is not a dead letter
// either. Without faults each message is sent once.
func (c *simulation) checkMessages(t *testing.T, calm bool) {
	t.Helper()
	host := sim.New(c.store, sim.Options{})
	v, err := host.Ask(context.Background(), event.StoreRequest{Dead: &event.DeadRequest{}})
	if err != nil {
		t.Fatal(err)
	}
	dead := map[string]int{}
	for _, o := range v.([]any) {
		d := o.(map[string]any)
		if m, _ := d["message"].(map[string]any); m != nil && m["kind"] == string(event.MessageHandoff) {
			dead[fmt.Sprint(d["channel"], " ", m["data"].(map[string]any)["id"])]++
			c.letters++
		}
	}
	for _, i := range c.handed(t) {
		from := c.runs[i.Handoff.Run]
		parts := strings.Split(i.Handoff.Node, "/")
		if iteration.MatchString(parts[len(parts)-1]) {
			parts = parts[:len(parts)-1]
		}
		name, _, _ := strings.Cut(parts[len(parts)-1], "[")
		for _, channel := range did[*ir.Handoff](node(from.w.Nodes, name)).Notify {
			told, letters := c.told[channel+" "+i.ID], dead[channel+" "+i.ID]
			switch {
			case channel == "deaf" && letters != 1, letters > 1, channel == "open" && told+letters == 0, calm && told+letters > 1:
				t.Errorf("seed %d: %s has handed over %s: channel %q was told %d times, and %d dead letters have the message",
					c.seed, i.Handoff.Node, i.ID, channel, told, letters)
			}
		}
	}
	for what, n := range c.told { // any order: each for itself
		if calm && n > 1 {
			t.Errorf("seed %d: the message %s was sent %d times", c.seed, what, n)
		}
	}
}

// tells reports whether an attempt sends a message, or asks which changes of breakers there are to tell: it belongs to no node.
func tells(a *event.Attempt) bool {
	return a.Kind == event.NotifyAttempt || a.Store != nil && a.Store.Breakers != nil
}
