package app

import (
	"bytes"
	"compress/flate"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	_ "modernc.org/sqlite"
)

// The secrets of the canary's workflow all hold this word, in a place where no encoding changes it.
const canary = "canary"

const (
	theSecret = canary + `-1/x+y "q"&z%`
	theNested = canary + "-two"
	thePin    = canary + "-three"
	thePEM    = "-----BEGIN-----\n" + canary + "4canary4canary4\n-----END-----\n"
)

// spoken is every command in every way in which it can be made to speak: the sinks that are a screen or a pipe. A command, or a flag that
// may make one say other things, has to stand here. tells says that the line must show the word where it is not a secret, so that it is
// known to look. FILE, RUN, BROKEN and GIVEN stand for the workflow, its run, a file of variables that cannot be read, and what the
// workflow is given.
var spoken = []struct {
	line  string
	tells bool
}{
	{"apply FILE GIVEN", true},
	{"apply FILE GIVEN --json", true},
	{"apply FILE GIVEN --logs", true},
	{"apply FILE GIVEN --target argv --target last --parallel 2 --death-limit 2 --no-wait", true},
	{"apply FILE GIVEN --report junit=/dev/stdout", true},
	{"apply FILE GIVEN --engine temporal://127.0.0.1:1/default", false},
	{"apply FILE GIVEN --var-file BROKEN", false},
	{"apply FILE GIVEN --env-file BROKEN", false},
	{"apply FILE GIVEN --var nested=" + canary, false},
	{"apply FILE GIVEN --var nested=[" + canary, false},
	{"apply FILE GIVEN --input nowhere=" + canary, false},
	{"validate FILE", false},
	{"validate FILE --json --fail-level warning", false},
	{"validate FILE --advice never", false},
	{"validate FILE --format compact", false},
	{"validate FILE --format github", false},
	{"validate FILE --format sarif", false},
	{"validate FILE --format junit", false},
	{"plan FILE GIVEN", false},
	{"plan FILE GIVEN --parallel 2 --json --detailed-exitcode", false},
	{"plan FILE GIVEN --lowered", false},
	{"plan FILE --against FILE", false},
	{"plan FILE --against BROKEN --format markdown", false},
	{"plan FILE --against FILE --json", false},
	{"graph FILE", false},
	{"graph FILE --format dot", false},
	{"graph FILE --around argv --depth 2", false},
	{"graph FILE --format mermaid --run RUN", false},
	{"graph FILE --format json --run RUN", false},
	{"runs list", false},
	{"runs list --json --limit 3 --status failed --workflow w", false},
	{"runs list --cause manual --since 1h", false},
	{"runs logs RUN --follow", true},
	{"logs RUN --follow", true},
	{"runs watch RUN", true},
	{"runs prune --keep 100 --older-than 1d --all --dry-run", false},
	{"runs prune --keep 100 --vacuum --json", false},
	{"runs watch RUN --json", true},
	{"runs watch", false},
	{"runs diff RUN CUT", false},
	{"runs diff RUN RUN --all --json", true},
	{"runs diff RUN", false},
	{"runs timeline RUN", false},
	{"runs timeline RUN --json", false},
	{"runs show RUN", true},
	{"runs show RUN --json", true},
	{"runs show RUN argv", true},
	{"runs show RUN argv --json --at 100", false},
	{"runs show RUN --at 3", false},
	{"runs show RUN --all --utc", true},
	{"runs show RUN --failed", true},
	{"logs RUN --failed", true},
	{"runs logs RUN --failed", true},
	{"events RUN", true},
	{"events RUN --json --node argv --since 1", true},
	{"runs logs RUN", true},
	{"runs logs RUN many", true},
	{"console RUN var.secret", true},
	{"console RUN step.argv.output", true},
	{"console RUN step.argv.output --condition", true},
	{"apply FILE GIVEN " + cut, true},
	{"resume CUT GIVEN --take-over --death-limit 2 --no-wait --logs", true},
	{"apply FILE GIVEN " + cut, true},
	{"resume CUT", false},
	{"resume CUT GIVEN --json", true},
	{"resume RUN GIVEN --json", true},
	{"retry RUN GIVEN --from argv", true},
	{"retry RUN GIVEN --from argv --all --logs", true},
	{"retry RUN GIVEN --file --dry-run", false},
	{"retry RUN GIVEN --file --json", true},
	{"gate baseline", false},
	{"gate baseline speed --json", false},
	{"gate baseline speed --accept RUN", false},
	{"retry RUN GIVEN --set argv=\"x\" --as ann", true},
	{"retry RUN GIVEN --only argv --json --death-limit 2 --no-wait", true},
	{"retry RUN", false},
	{"replay RUN", false},
	{"replay RUN --json --detailed-exitcode --file FILE", false},
	{"replay RUN --file FILE", false},
	{"apply FILE GIVEN " + cut, true},
	{"resume CUT GIVEN --dry-run", false},
	{"resume CUT GIVEN --dry-run --json", false},
	{"resume CUT GIVEN --dry-run --new-secret secret", false},
	{"cancel CUT --reason none", false},
	{"cancel CUT GIVEN --reason none --wait --timeout 1m", false},
	{"cancel CUT --without-secrets", false},
	{"cancel CUT argv --as ann --reason none", false},
	{"cancel CUT --without-secrets --json", false},
	{"kv set key something --namespace n --ttl 1h --json", false},
	{"kv get key --namespace n --json", false},
	{"kv list k --namespace n --limit 3 --json", false},
	{"kv list", false},
	{"kv namespaces --json", false},
	{"kv delete key --namespace n --json", false},
	{"inbox --json", false},
	{"inbox", false},
	{"decide CUT node approve --as ann --comment fine --shown 1 --input a=1 --no-wait --json", false},
	{"decide CUT node reject --resume", false},
	{"decide CUT node fail --message no", false},
	{"decide CUT node done --output 1", false},
	{"emit something --data 1 --key k --json", false},
	{"emit something --run CUT", false},
	{"apply FILE GIVEN --no-follow", true},
	{"resume RUN GIVEN --no-follow", true},
	{"apply FILE GIVEN --detach", false},
	{"serve --once --listen off --no-token --death-limit 2", false},
	{"serve FILE --once --var more=1 --var-file BROKEN --host localhost:1", false},
	{"serve --print-unit", false},
	{"worker --engine temporal://127.0.0.1:1/default --queues some --slots 2 --memory --workspace .", false},
	{"runs show RUN --engine temporal://127.0.0.1:1/default", false},
	{"open latest --print", false},
	{"export latest", false},
	{"export latest --output run.html", false},
	{"export RUN --otlp", true},
	{"programs list --json", false},
	{"programs list", false},
	{"programs remove FILE --json", false},
	{"sync check-in point --as party --blocked reason --json", false},
	{"sync list --json", false},
	{"sync list", false},
	{"routines next --cron @daily --timezone UTC --from 2026-11-02T08:00:00Z --count 2 --json", false},
	{"routines list --next 2 --json", false},
	{"routines list", false},
	{"routines pause nobody --json", false},
	{"routines resume nobody --json", false},
	{"routines run nobody --json --no-wait --death-limit 2", false},
	{"dispatch add Something --id AGT-1 --to someone --body text --label one --needs ds-1 --capability two --priority 3 --key k --as me --json", false},
	{"dispatch list --all --tickets --json", false},
	{"dispatch list --all", false},
	{"backup --to ../copy --keep 7d --json", false},
	{"restore ../copy --only kv --json", false},
	{"dispatch show AGT-1 --json", false},
	{"dispatch show AGT-1", false},
	{"dispatch cancel AGT-1 --json", false},
	{"dispatch add Something --id AGT-4", false},
	{"dispatch claim --as someone --capability two --lease 1h --tickets --json", false},
	{"dispatch claim AGT-4 --as someone", false},
	{"dispatch renew AGT-4 --token 1 --lease 1h --json", false},
	{"dispatch release AGT-4 --token 1 --failed --reason text --json", false},
	{"dispatch claim AGT-4 --as someone --json", false},
	{"dispatch hand-over AGT-4 --token 2 --to someone --summary text --next text --file f --decision d --question q --acceptance a --blocker b --priority 1 --as me --json", false},
	{"dispatch close AGT-4 --token 2 --json", false},
	{"backlog list --file FILE --status todo --json", false},
	{"backlog list --file FILE", false},
	{"dispatch add Something --id AGT-2", false},
	{"loop run items FILE GIVEN --until-idle --json --death-limit 2", false},
	{"loop next items FILE --var-file BROKEN --dry-run --json", false},
	{"loop next items FILE", false},
	{"loop pause items --agent does_items --for 1h --json", false},
	{"loop resume items --agent does_items --json", false},
	{"loop status items --json", false},
	{"loop status items", false},
	{"loop status", false},
	{"loop status --json", false},
	{"loop items items --all --json", false},
	{"loop stop items --json", false},
	{"dispatch add Something --id AGT-3", false},
	{"loop run items FILE GIVEN --once", false},
	{"dlq list", false},
	{"dlq list --json", false},
	{"dlq show dl-1", false},
	{"dlq show dl-1 --json", false},
	{"dlq redrive dl-1 GIVEN --as somebody --json --death-limit 2", false},
	{"dlq drop dl-1 --json", false},
	{"stats --since 7d --by agent --daily", false},
	{"stats --since 7d --by workflow --json", false},
	{"stats --since 7d --forecasts", false},
	{"limits", false},
	{"limits --json", false},
	{"limits reset key --json", false},
	{"agents stop key --json", false},
	{"agents list", false},
	{"agents show key", false},
	{"agents show key --expanded", false},
	{"agents test chat FILE GIVEN --task hello --timeout 10s", true},
	{"agents test chat FILE GIVEN --with {} --json", true},
	{"agents test lines FILE GIVEN", true},
	{"agents test remote FILE GIVEN", true},
	{"agents pin remote FILE GIVEN --out pin.json", false},
	{"agents pin tooled FILE GIVEN --server tools --out pin.json", false},
	{"agents pin tooled FILE GIVEN --server site", false},
	{"agents test tooled FILE GIVEN", true},
	{"agents list --json", false},
	{"agents start key --json", false},
	{"memory add --embedder none --id one --agent a --type note --tag t --importance 0.5 --session s --json something", false},
	{"memory add --embedder openai --embedder-model m --embedder-url http://127.0.0.1:9 --embedder-key-env NO_KEY --id two --context c --observation o --lesson l", false},
	{"memory import memory.jsonl --embedder none --json", false},
	{"memory import memory.jsonl --embedder openai --embedder-model m --embedder-url http://127.0.0.1:9 --embedder-key-env NO_KEY", false},
	{"memory search --embedder none -k 3 --explain --agent a --type note --tag t --since 1d --all something", false},
	{"memory search --embedder none --results 3 --wait --json something", false},
	{"memory search --embedder none --queries FILE", false},
	{"memory search --embedder openai --embedder-model m --embedder-url http://127.0.0.1:9 --embedder-key-env NO_KEY something", false},
	{"memory list --limit 3 --run latest --author flowrun --agent a --type note --tag t --since 1d --all --json", false},
	{"memory list", false},
	{"memory show one", false},
	{"memory show one --json", false},
	{"memory pin one --reason none --json", false},
	{"memory unpin one --reason none --json", false},
	{"memory promote one --to shared --json", false},
	{"memory supersede one better --embedder none --id three --agent a --type note --tag t --importance 0.5 --session s --json", false},
	{"memory supersede three --lesson l --context c --observation o --embedder openai --embedder-model m --embedder-url http://127.0.0.1:9 --embedder-key-env NO_KEY", false},
	{"memory consolidate --embedder none --json", false},
	{"memory consolidate --embedder openai --embedder-model m --embedder-url http://127.0.0.1:9 --embedder-key-env NO_KEY", false},
	{"memory stats --embedder openai --embedder-model m --embedder-url http://127.0.0.1:9 --embedder-key-env NO_KEY --json", false},
	{"memory stats", false},
	{"memory doctor --json --rebuild", false},
	{"memory export --run latest --author flowrun --agent a --type note --tag t --since 1d --all", false},
	{"memory export", true},
	{"memory search --embedder none --json the task of the agent failed secret", true},
	{"memory consolidate --file FILE --reword --embedder none", false},
	{"memory list --type pattern", true},
	{"memory path", false},
	{"memory forget one --reason none --json", false},
	{"memory revert two --run latest --author user:a --since 1d --until 1d --reason none --json", false},
	{"doctor", false},
	{"doctor --json --all", false},
	{"simulate FILE --runs 5", false},
	{"simulate FILE --runs 5 --parallel 2 --seed 3 --json", false},
	{"fmt FILE --check", false},
	{"fmt FILE --diff", false},
	{"fmt FILE", false},
	{"fmt FILE --force", false},
	{"lsp --stdio", false},
}

// cut runs a step that a signal stops half-way.
const cut = "--target goes_on --target not_found"

// speechless are the commands that neither read a run nor are given a secret. What mcp tells of runs, other commands print for it.
var speechless = []string{"mcp", "explain", "schema", "init", "import", "test", "version", "help", "completion", "man", guardianName}

// givenFlags are the flags that give values: those of GIVEN and of the lines with BROKEN.
var givenFlags = []string{"input", "input-raw", "input-from", "var", "var-raw", "var-from", "var-file", "env-file"}

// kept are the places of the store: files, and columns of tables. One that is found and does not stand here fails the test.
var kept = []string{
	".gitignore", "store", "reserve", "follow/*", "live/*", "*.lock", "drivers/*", "marks/*", "flowrun.db", "flowrun.db-shm", "flowrun.db-wal", "logs/*/*", "learning/*",
	"memory.db", "memory.db-shm", "memory.db-wal", "memory.lock", "memory.mark", "memory.db.damaged-*", "vectors-*",
	"backups/*/*", "backups/*/logs/*/*", "artifacts/*/*", "backups/*/artifacts/*/*",
}

// TestCanary gives a workflow secrets, lets its steps, agents, gates and children say them in every way they can, and looks for them in all
// that flowrun writes. The second time the same values are not secrets, and must be found.
func TestCanary(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a few hundred processes")
	}
	everyCommand(t)
	for _, sensitive := range []bool{true, false} {
		t.Run(fmt.Sprintf("sensitive=%v", sensitive), func(t *testing.T) { fly(t, sensitive) })
	}
}

// everyCommand fails where a command or a flag stands in no line.
func everyCommand(t *testing.T) {
	a := &app{}
	root := a.newRootCommand()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "flowrun"), " ")
		if slices.Contains(speechless, name) {
			return
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if !c.Runnable() || c.HasSubCommands() {
			return
		}
		var lines []string
		for _, s := range spoken {
			if strings.HasPrefix(s.line+" ", name+" ") {
				lines = append(lines, s.line+" ")
			}
		}
		if len(lines) == 0 {
			t.Errorf("the command %q stands in no line of the table: add one, so that secrets are looked for in what it says", name)
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || slices.Contains(givenFlags, f.Name) {
				return
			}
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, " --"+f.Name+" ") }) {
				t.Errorf("the flag --%s of %q stands in no line of the table: add one, so that secrets are looked for in what it makes the command say", f.Name, name)
			}
		})
	}
	walk(root)
}

func fly(t *testing.T, sensitive bool) {
	dir := t.TempDir()
	t.Chdir(dir)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dirOfTest, "testdata", "canary.hcl"))
	must(err)
	must(os.WriteFile("flow.hcl", bytes.ReplaceAll(text, []byte("SENSITIVE"), fmt.Append(nil, sensitive)), 0o600))
	outside := t.TempDir() // what is given, which holds the secrets of course
	variables, broken := filepath.Join(outside, "vars.json"), filepath.Join(outside, "broken")
	must(os.WriteFile(variables, fmt.Appendf(nil, `{"nested": {"list": [{"password": %q}]}, "pem": %q}`, theNested, thePEM), 0o600))
	must(os.WriteFile(broken, []byte("pem = \""+canary+"\n"+canary+" = = 3\n"), 0o600))
	must(os.Mkdir("tmp", 0o700))
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			said, _ := json.Marshal(r.Header.Get("Authorization") + r.Header.Get("X_token") + string(body))
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\n", said)
			return
		}
		w.Header().Set("X-Echo", base64.StdEncoding.EncodeToString([]byte(r.Header.Get("Authorization"))))
		fmt.Fprintf(w, "%s %s %s\n%s", r.Method, r.URL, r.Header.Get("Authorization"), body)
	}))
	defer echo.Close()
	traces := newCollector(t)
	environ := append(os.Environ(), "FLOWRUN_VAR_secret="+theSecret, "FLOWRUN_VAR_site="+echo.URL, "OTEL_EXPORTER_OTLP_ENDPOINT="+traces.URL)

	marker := filepath.Join(outside, "marker")
	environ = append(environ, "FLOWRUN_VAR_marker="+marker)
	seen := map[string]string{}
	first, last := "", ""
	for _, s := range spoken {
		if !sensitive && s.line == "resume CUT" {
			continue // without secrets nothing is missing: it would continue
		}
		var words []string
		for _, w := range strings.Fields(s.line) {
			switch w {
			case "FILE":
				words = append(words, "flow.hcl")
			case "RUN":
				words = append(words, first)
			case "CUT":
				words = append(words, last)
			case "BROKEN":
				words = append(words, broken)
			case "GIVEN":
				if !sensitive && (strings.HasPrefix(s.line, "resume") || strings.HasPrefix(s.line, "retry") || strings.HasPrefix(s.line, "cancel")) {
					continue // only what is sensitive is given again
				}
				if words = append(words, "--var-file", variables); !strings.HasPrefix(s.line, "loop ") && !strings.HasPrefix(s.line, "agents ") { // these have no inputs
					words = append(words, "--input", "pin="+thePin)
				}
			default:
				words = append(words, w)
			}
		}
		must(os.WriteFile(marker, nil, 0o600))
		over := make(chan struct{})
		if strings.HasSuffix(s.line, cut) {
			must(os.Remove(marker))
			go interruptAt(marker, over)
		}
		var out bytes.Buffer
		code := Main(words, Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: environ})
		close(over)
		if out.Len() == 0 && code != 0 {
			t.Errorf("%s: exit code %d and not a word", s.line, code)
		}
		if strings.Contains(out.String(), "a defect in flowrun") || testing.Verbose() {
			t.Logf("%s: %d\n%s", s.line, code, out.String())
		}
		if strings.HasPrefix(s.line, "apply") {
			if last = newest(t); first == "" {
				first = last
			}
		}
		// What stands on the command line itself is not a secret to who reads the answer.
		if plain := strings.Contains(s.line, canary); !plain || sensitive {
			look(out.Bytes(), func(how string) { seen[s.line] = how })
		}
		if sensitive && s.tells && !strings.Contains(out.String(), "sensitive") {
			t.Errorf("%s hides nothing:\n%s", s.line, out.String())
		}
		if !sensitive && s.tells && seen[s.line] == "" {
			t.Errorf("%s shows nothing of a value that is not a secret, so it cannot tell whether one is hidden:\n%s", s.line, out.String())
		}
	}
	look(traces.bodies, func(how string) { seen["traces"] = how })
	if n := len(traces.spans()); n < 100 {
		t.Errorf("%d spans were sent", n)
	}
	stored(t, dir, func(where string, text []byte) { look(text, func(how string) { seen[where] = how }) })
	if !sensitive {
		for _, where := range []string{"flowrun.db batches.body", "logs/*/*", "memory.db", "traces"} {
			if seen[where] == "" {
				t.Errorf("%s holds nothing of a value that is not a secret, so nobody looked there: %q", where, seen)
			}
		}
		return
	}
	for where, how := range seen {
		t.Errorf("a secret is in %s: %s", where, how)
	}
}

// interruptAt sends this process what asks it to end, once a step has made the file, unless the command is over. It is not what
// Ctrl-C sends: that is ignored by whatever a script starts in the background, a test among it.
func interruptAt(file string, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(10 * time.Millisecond):
		}
		if _, err := os.Stat(file); err == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
			return
		}
	}
}

// newest is the run that was started last.
func newest(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	var list []struct{ Run, Parent string }
	if code := Main([]string{"runs", "list", "--json"}, Streams{Stdout: &out, Stderr: &out}); code != 0 {
		t.Fatal(out.String())
	}
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	for _, r := range list {
		if r.Parent == "" {
			return r.Run
		}
	}
	return "none"
}

// dirOfTest is the package's folder: tests leave it.
var dirOfTest, _ = os.Getwd()

// look finds the canary in a text: as it is, in base64 wherever it stands in it, or packed. How tells what is around it.
func look(text []byte, found func(how string)) {
	words := []string{canary}
	for before := range 3 {
		code := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), canary...))
		words = append(words, code[(before*8+5)/6:(before+len(canary))*8/6])
	}
	for i, plain := 0, text; i < 2; i++ {
		for _, w := range words {
			if at := bytes.Index(plain, []byte(w)); at >= 0 {
				found(fmt.Sprintf("%q", plain[max(0, at-60):min(len(plain), at+60)]))
			}
		}
		plain, _ = io.ReadAll(flate.NewReader(bytes.NewReader(text)))
	}
}

// stored looks at every file below dir but the workflow, and at every column of every table.
func stored(t *testing.T, dir string, look func(where string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if rel == "flow.hcl" {
			return nil
		}
		if rel == "run.html" { // what export wrote
			look(rel, text)
			return nil
		}
		inStore, is := strings.CutPrefix(rel, ".flowrun/")
		at := slices.IndexFunc(kept, func(glob string) bool { ok, _ := filepath.Match(glob, inStore); return ok })
		if !is || at < 0 {
			t.Errorf("the file %s stands in no line of the table", rel)
			look(rel, text)
			return nil
		}
		look(kept[at], text)
		if filepath.Ext(name) == ".db" {
			columns(t, name, func(column string, text []byte) { look(inStore+" "+column, text) })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// columns looks at every value of a database. Columns need no table of their own: none is left out.
func columns(t *testing.T, name string, look func(column string, text []byte)) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+name+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables []string
	eachValue(t, db, "SELECT name FROM sqlite_master WHERE type = 'table'", func(_ string, v any) { tables = append(tables, fmt.Sprint(v)) })
	for _, table := range tables {
		eachValue(t, db, "SELECT * FROM "+table, func(column string, v any) {
			text, ok := v.([]byte)
			if !ok {
				text = fmt.Append(nil, v)
			}
			look(table+"."+column, text)
		})
	}
}

func eachValue(t *testing.T, db *sql.DB, query string, value func(column string, v any)) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, to := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		to[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			value(names[i], v)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
