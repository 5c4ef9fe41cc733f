package app

import (
	"fmt"
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/engine"
)

// retryBegun is the value of --file without a file.
const retryBegun = "the file of RUN"

func (a *app) newRetryCommand() *cobra.Command {
	var r args.Retry
	c := &cobra.Command{
		Use: "retry RUN", Short: "Retry the steps of a run that did not succeed; the new run reuses the rest", Args: between(1, 2, "RUN [--file [FILE]]"),
		Long: `retry starts a new run with the definition, the inputs and the variables of RUN. It reuses the nodes that succeeded. Nodes that
failed, were blocked, cancelled or compensated, and all nodes that depend on them, run again with new idempotency keys. Each instance of for_each counts separately; a repeat and a call are repeated as a whole; tolerated failures, and nodes that a person has skipped, are kept; finally runs again.

--from also repeats runs that succeeded: the step runs again, and all nodes that depend on it. --set gives the output of a step that a person did by hand: the step counts as succeeded with this output, step.NAME.by is the name of the person, and all nodes that depend on it run again. The
output must fit the step. RUN stays as it was. A run that --only or --target limited to some steps is repeated with the same limit, unless
--all is given.

  flowrun retry latest --from 'test[linux]'
  flowrun retry latest --set 'deploy={"version": "1.2"}' --as ann
  flowrun retry latest --file --dry-run

--file runs a changed file: FILE, or the current version of the file of RUN. A step keeps its result if its request is the same in the new file, and all steps that it waits for keep their results. retry shows what runs again, and which text or value
has changed, before the first step starts; --dry-run shows it and starts nothing.

RUN must have ended: to continue a run that has not, use resume. A retry keeps all inputs and variables, also their defaults; for another
value, start a new run with apply. Only sensitive values are read again from where RUN got them, and may have changed; the journal records
that they differ. Give those that RUN got on its command line again, with --input or --var.`,
		RunE: func(c *cobra.Command, words []string) error {
			r.Run, a.asJSON = words[0], r.JSON
			if r.Changed = r.File != ""; r.File == retryBegun {
				r.File = ""
			}
			if len(words) == 2 {
				if !r.Changed || r.File != "" {
					return &args.Error{Message: fmt.Sprintf("there is one argument too many: %q", words[1]),
						Hint: inFlowrun(quoteLine([]string{c.Root().Name(), "retry", words[0], "--only", words[1]}), "retry takes a run. To run one step again:")}
				}
				r.File = words[1]
			}
			if err := r.Check(); err != nil {
				return err
			}
			return a.withRun(r.Run, &r.Drive, func(s *store, info engine.Info) error { return a.runAgain(s, info, &r) })
		},
	}
	f := c.Flags()
	f.StringVar(&r.From, "from", "", "also run this `step` again, and all nodes that depend on it; an instance is written as build[3]")
	f.StringVar(&r.Only, "only", "", "run only this `step`, or only this instance such as build[3], and reuse or leave out all other nodes")
	f.BoolVar(&r.All, "all", false, "run the whole workflow, where RUN was limited by --only or --target")
	f.StringArrayVar(&r.Set, "set", nil, "the output of a step that was done by hand, `STEP=JSON`; can be repeated")
	f.StringVar(&r.As, "as", "", "the `name` of the person who sets steps (default: the user of the operating system)")
	f.StringVar(&r.File, "file", "", "run a changed `file`, and reuse the results of steps that are the same (default: the file of RUN)")
	f.Lookup("file").NoOptDefVal = retryBegun
	f.BoolVar(&r.DryRun, "dry-run", false, "with --file: only show what would be reused, and what would run")
	f.BoolVar(&r.JSON, "json", false, "events as JSON lines on standard output")
	outputFlag(c, &r.Drive)
	deathLimitFlag(c, &r.Drive)
	noWaitFlag(c, &r.Drive)
	valueFlags(c, &r.Given)
	return c
}
