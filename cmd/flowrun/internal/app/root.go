package app

import (
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
)

// Main carries out one command line and returns the exit code.
func Main(arguments []string, s Streams) (code int) {
	a := &app{Streams: s, arguments: arguments}
	a.openTerminals()
	defer func() {
		if p := recover(); p != nil {
			code = a.reportError(arguments, &panicked{p, debug.Stack()})
		}
	}()
	root := a.newRoot(nameAsked(arguments))
	root.SetArgs(arguments)
	root.SetOut(a.out)
	root.SetErr(a.err)
	return a.reportError(arguments, root.Execute())
}

// newRootCommand makes the root with all commands.
func (a *app) newRootCommand() *cobra.Command { return a.newRoot("") }

// newRoot makes the root with the command of one name, or with all commands. A process carries out one command, and it takes 13 % of the CPU
// time of a short one to make the flags of the 90 others.
func (a *app) newRoot(only string) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "flowrun",
		Short: "Check workflow files and run them durably",
		Long: `flowrun checks workflow files and runs them. A run survives a crash: resume continues where it stopped.

  flowrun init                write a first workflow
  flowrun validate DIR        check files
  flowrun test DIR            prove workflows in virtual time
  flowrun plan FILE           show what a run would do
  flowrun apply FILE          run a workflow and print its outputs
  flowrun runs show latest    show a run
  flowrun resume latest       continue a run that was stopped
  flowrun doctor              check the store, the shells and the programs

Exit codes: 0 success; 1 the run failed, or the file has errors; 2 usage error; 3 flowrun could not do it (store, files);
4 only people can continue the run; 5 stopped by a limit or cancelled; 6 only with --detailed-exitcode; 130 and 143 for signals.`,
		SilenceErrors: true, SilenceUsage: true,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				a.out.Printf("flowrun %s\n", thisVersion())
				return nil
			}
			return c.Help()
		},
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := args.OneOf("--color", a.global.Color, "auto", "always", "never"); err != nil {
				return err
			}
			a.openTerminals()
			if err := args.IsEnvironment(a.environment()); err != nil {
				return err
			}
			if err := a.checkCommandEngine(c); err != nil {
				return err
			}
			if err := a.setGrace(); err != nil {
				return err
			}
			if err := a.checkURL(); err != nil {
				return err
			}
			return a.setLimits()
		},
	}
	root.SetFlagErrorFunc(a.flagError)
	a.globalFlags(root)
	root.Flags().BoolVar(&version, "version", false, "print the version")
	a.addCommands(root, only)
	if root.CompletionOptions.DisableDefaultCmd = only != ""; only == "" {
		tameLibrary(root)
	}
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { a.out.Printf("%s\n", ui.Fit(helpOf(c), a.out.Width())) })
	return root
}

// command is a command below the root.
type command struct {
	name string
	make func(*app) *cobra.Command
}

// commandGroup is a group of commands, as the help lists them.
type commandGroup struct {
	title    string
	commands []command
}

// commandGroups lists the commands below the root. It is a function, not a table: some commands read it.
func commandGroups() []commandGroup {
	return []commandGroup{
		{"Write and check files", []command{
			{"init", (*app).newInitCommand},
			{"import", (*app).newImportCommand},
			{"validate", (*app).newValidateCommand},
			{"fmt", (*app).newFmtCommand},
			{"test", (*app).newTestCommand},
			{"plan", (*app).newPlanCommand},
			{"simulate", (*app).newSimulateCommand},
			{"graph", (*app).newGraphCommand},
			{"explain", (*app).newExplainCommand},
			{"schema", (*app).newSchemaCommand},
			{"lsp", (*app).newLspCommand},
		}},
		{"Run workflows", []command{
			{"apply", (*app).newApplyCommand},
			{"resume", (*app).newResumeCommand},
			{"retry", (*app).newRetryCommand},
			{"cancel", (*app).newCancelCommand},
			{"worker", (*app).newWorkerCommand},
		}},
		{"Look at runs", []command{
			{"runs", (*app).newRunsCommand},
			{"logs", (*app).newLogsCommand},
			{"events", (*app).newEventsCommand},
			{"console", (*app).newConsoleCommand},
			{"replay", (*app).newReplayCommand},
			{"stats", (*app).newStatsCommand},
			{"export", (*app).newExportCommand},
			{"open", (*app).newOpenCommand},
		}},
		{"Answer", []command{
			{"inbox", (*app).newInboxCommand},
			{"decide", (*app).newDecideCommand},
			{"dlq", (*app).newDlqCommand},
			{"gate", (*app).newGateCommand},
		}},
		{"Keep agents at work", []command{
			{"loop", (*app).newLoopCommand},
			{"dispatch", (*app).newDispatchCommand},
			{"backlog", (*app).newBacklogCommand},
			{"routines", (*app).newRoutinesCommand},
			{"emit", (*app).newEmitCommand},
			{"serve", (*app).newServeCommand},
			{"programs", (*app).newProgramsCommand},
			{"mcp", (*app).newMcpCommand},
		}},
		{"Shared state", []command{
			{"memory", (*app).newMemoryCommand},
			{"agents", (*app).newAgentsCommand},
			{"limits", (*app).newLimitsCommand},
			{"kv", (*app).newKvCommand},
			{"sync", (*app).newSyncCommand},
		}},
		{itself, []command{
			{"doctor", (*app).newDoctorCommand},
			{"backup", (*app).newBackupCommand},
			{"restore", (*app).newRestoreCommand},
			{"version", (*app).newVersionCommand},
			{"man", (*app).newManCommand},
			{guardianName, func(*app) *cobra.Command { return newGuardianCommand() }},
		}},
	}
}

// nameAsked is the name of the command that a command line begins with, or "": then the root needs all commands.
func nameAsked(arguments []string) string {
	if len(arguments) == 0 {
		return ""
	}
	word := arguments[0]
	if word == "run" { // the alias of apply
		word = "apply"
	}
	for _, g := range commandGroups() {
		if slices.ContainsFunc(g.commands, func(c command) bool { return c.name == word }) {
			return word
		}
	}
	return ""
}

// addCommands adds the command of one name, or all commands, in the groups in which the help lists them.
func (a *app) addCommands(root *cobra.Command, only string) {
	for _, g := range commandGroups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			if only == "" || only == c.name {
				made := c.make(a)
				made.GroupID = g.title
				root.AddCommand(made)
			}
		}
	}
	root.SetHelpCommandGroupID(itself)
	root.SetCompletionCommandGroupID(itself)
}

// itself is the group of the commands that concern no workflow.
const itself = "flowrun itself"

// globalFlags declares the flags of every command.
func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.global.Color, "color", "auto", "colour: auto, always or never")
	f.StringVar(&a.global.Store, "store", "",
		"the `folder` that holds runs (default: .flowrun at the root of the repository, or FLOWRUN_STORE)")
	f.StringVar(&a.global.Env, "env", "",
		"the `environment`: runs are kept in env/NAME of the store, and NAME.flowvars beside the program gives variables (also FLOWRUN_ENV)")
	a.engineFlags(root)
	f.BoolVar(&a.global.UTC, "utc", false, "print times in UTC, not in the local time zone")
	f.StringArrayVar(&a.global.Limits, "limit", nil,
		"raise a limit of files, `NAME=SIZE`: file, line, token, block or depth (also FLOWRUN_LIMITS=NAME=SIZE,…)")
}

// tameLibrary makes the commands of the library behave like ours: wrong words are usage errors, and
// help is a result.
func tameLibrary(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.RunE = unknownCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = between(0, 0, "")
			}
		case "help":
			c.Run, c.RunE = nil, showHelp
		}
	}
}

// helpOf is the help of a command, as the library has it, with lines as they were written.
func helpOf(c *cobra.Command) string {
	about := c.Long
	if about == "" {
		about = c.Short
	}
	c.InitDefaultHelpFlag()
	return strings.TrimSpace(about) + "\n\n" + strings.TrimRight(c.UsageString(), "\n")
}

// showHelp shows the help of a command that is named by its words.
func showHelp(c *cobra.Command, words []string) error {
	about, rest, err := c.Root().Find(words)
	if err != nil || len(rest) > 0 {
		return unknownCommand(about, rest)
	}
	return about.Help()
}
