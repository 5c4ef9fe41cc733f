package app

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/fleet"
	"github.com/flowrun/flowrun/runner/standalone"
)

// Names of the environment that say which engine keeps the runs, and which folder its workers and readers share.
const (
	engineEnv    = "FLOWRUN_ENGINE"
	artifactsEnv = "FLOWRUN_ARTIFACTS"
	// payloadKeyEnv holds the key that encrypts what the server keeps. There is no flag for it: others see the flags of a process.
	payloadKeyEnv = "FLOWRUN_PAYLOAD_KEY"
	// localEngine is the engine of this machine: the store.
	localEngine = "local"
)

// carried and aside are what the table of commands says of those that an engine serves, and of those that no store and no engine concerns.
const (
	carried = ""
	aside   = "-"
)

// onEngine says what becomes of each command where the runs are on another engine: it is carried out there, the engine does not concern it, or
// it is refused with words that say what to do instead. A command with subcommands stands for those that are not in the table.
var onEngine = map[string]string{
	"apply": carried, "worker": carried, "doctor": carried,
	"runs list": carried, "runs show": carried, "runs watch": carried, "runs timeline": carried, "runs diff": carried, "events": carried, "logs": carried,
	"console": carried, "graph": carried, "replay": carried, "export": carried, "cancel": carried, "resume": carried, "retry": carried,
	"inbox": carried, "decide": carried, "kv": carried, "emit": carried, "sync": carried, "limits": carried, "agents": carried,
	"routines": carried, "programs": carried, "dlq": carried, "serve": carried, "open": carried, "loop": carried, "dispatch": carried, "stats": carried, "memory": carried, "mcp": carried,

	"validate": aside, "test": aside, "fmt": aside, "explain": aside, "schema": aside, "init": aside, "import": aside, "lsp": aside,
	"plan": aside, "simulate": aside, "version": aside, "man": aside, "completion": aside, "help": aside, "backlog": aside, guardianName: aside, "__complete": aside, "__completeNoDesc": aside,

	"runs prune": "removes runs of a store. " + standalone.Retention,
	"backup":     "copies a store. Back up the database of the server with its own tools.",
	"restore":    "restores a store. Restore the database of the server with its own tools.",
	"gate":       "changes baselines of a store. Leave the engine out.",
}

// engineFlags declares the flags that say where the runs are.
func (a *app) engineFlags(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringVar(&a.global.Engine, "engine", "",
		"the `address` of the server that keeps the runs, temporal://HOST:PORT/NAMESPACE; local is the store (also "+engineEnv+")")
	f.StringVar(&a.global.Artifacts, "artifacts", "",
		"the `folder` that workers and readers of an engine share, for logs and long outputs, or s3://BUCKET/PREFIX (also "+artifactsEnv+")")
}

// engine is the address of the server that keeps the runs; "" for the store. A flag goes before the environment, and that before a file.
func (a *app) engine() string {
	address := cmp.Or(a.global.Engine, a.getenv(engineEnv), a.fileEngine)
	if address == localEngine {
		return ""
	}
	return address
}

// useEngineOf takes the engine that the file of a program names, unless a flag or the environment says where the runs are.
func (a *app) useEngineOf(p *program) error {
	if cmp.Or(a.global.Engine, a.getenv(engineEnv), a.global.Store) != "" || p.engine == "" {
		return a.checkArtifacts()
	}
	a.fileEngine = p.engine
	return a.checkEngine()
}

func (a *app) refuseOnEngine(command, what string) error {
	return &args.Error{Message: fmt.Sprintf("flowrun %s %s", command, what), Hint: "The engine is " + ui.Clean(a.engine()) + "; --engine local is the store."}
}

// checkArtifacts refuses the folder of an engine where the runs are in a store.
func (a *app) checkArtifacts() error {
	if a.engine() == "" && a.global.Artifacts != "" {
		return &args.Error{Message: "--artifacts is the folder of an engine, and the runs are in a store", Hint: "Name the engine: --engine temporal://HOST:PORT/NAMESPACE."}
	}
	return nil
}

func (a *app) checkEngine() error {
	if err := fleet.Check(a.engine()); err != nil {
		return &args.Error{Message: "--engine: " + err.Error()}
	}
	return nil
}

// checkCommandEngine refuses a command that an engine does not carry out, and an engine where none belongs.
func (a *app) checkCommandEngine(c *cobra.Command) error {
	words := strings.Fields(c.CommandPath())[1:]
	what, known := aside, len(words) == 0
	for n := len(words); n > 0 && !known; n-- {
		what, known = onEngine[strings.Join(words[:n], " ")]
	}
	address := a.engine()
	name := strings.Join(words, " ")
	switch {
	case address == "" && what != aside && name != "apply": // whose file may name an engine
		return a.checkArtifacts()
	case address == "" && what == aside && a.global.Engine+a.global.Artifacts == "", address == "" && what != aside:
		return nil
	case what == aside && a.global.Engine+a.global.Artifacts == "": // of the environment, for other commands
		return nil
	case what == aside:
		return &args.Error{Message: fmt.Sprintf("%s needs no engine", name), Hint: "Leave --engine and --artifacts out."}
	case what != carried || !known:
		return a.refuseOnEngine(name, what)
	case a.global.Store != "":
		return &args.Error{Message: "--store and --engine cannot be combined: the server keeps the runs", Hint: "Leave one of them out."}
	}
	return a.checkEngine()
}

// artifacts is where workers and readers of the engine share what is long: a folder, absolute, or a bucket. Both are "" if there is nothing.
func (a *app) artifacts() (folder, bucket string, err error) {
	where := cmp.Or(a.global.Artifacts, a.getenv(artifactsEnv))
	if where == "" || fleet.IsBucket(where) {
		return "", where, nil
	}
	folder, err = filepath.Abs(where)
	return folder, "", err
}

// engineHints are the flags of the engine for a command that a message names.
func (a *app) engineHints() (flags string) {
	if engine := cmp.Or(a.global.Engine, a.fileEngine); engine != "" {
		flags += " --engine " + ui.Quote(engine)
	}
	if a.global.Artifacts != "" {
		flags += " --artifacts " + ui.Quote(a.global.Artifacts)
	}
	return flags
}
