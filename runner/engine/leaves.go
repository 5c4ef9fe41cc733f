package engine

import "github.com/flowrun/flowrun/runner/event"

// Leaves returns the keys of the attempts that leave their sync points, by the commands of a batch. The host lets them leave in the
// transaction of the batch, so that no attempt whose node has ended is released in place of one that waits.
func Leaves(commands []event.Command) (keys []string) {
	for i := range commands {
		if c := commands[i].Cancel; c != nil && c.Leaves != "" {
			keys = append(keys, c.Leaves)
		}
	}
	return keys
}

// Asks returns those of the commands of a batch that say what the run asks people. The host carries them out in the transaction of the
// batch, so that a decision is for what the journal says.
func Asks(commands []event.Command) (out []event.Command) {
	for i := range commands {
		if c := &commands[i]; c.Ask != nil || c.EndAsk != nil {
			out = append(out, *c)
		}
	}
	return out
}
