package bench

import (
	"fmt"
	"strings"
)

// slots is the max_concurrency of workflows whose attempts are not processes: as many as a group of the SQLite floor.
const slots = 1000

// workflow is a file of one workflow, with the attributes and nodes given.
func workflow(nodes ...string) string {
	return "agent \"null\" { type = \"null\" }\n\nworkflow \"w\" {\n" + strings.Join(nodes, "") + "}\n"
}

func concurrency(n int) string { return fmt.Sprintf("  max_concurrency = %d\n", n) }

// The one action of a step, as it stands in the file. nothing is a process that does nothing.
const (
	nothing = "run = [\"/bin/true\"]"
	null    = "agent = agent.null"
	number1 = "value = 1"
)

// wide is n steps of which none waits for another.
func wide(n int, action string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  step \"s%d\" { %s }\n", i, action)
	}
	return b.String()
}

// chain is n steps, each after the one before.
func chain(n int, action string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  step \"s%d\" {\n    %s\n", i, action)
		if i > 0 {
			fmt.Fprintf(&b, "    depends_on = [step.s%d]\n", i-1)
		}
		b.WriteString("  }\n")
	}
	return b.String()
}

// forEach is one step with n instances.
func forEach(name string, n int, action string) string {
	return fmt.Sprintf("  step %q {\n    for_each = range(%d)\n    %s\n  }\n", name, n, action)
}
