package lsp_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/lsp"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/editor"
)

var editsFlag = flag.Int("edits", 150, "how many random edits TestRandomEdits makes; from 1000 on, the other tests are complete, too")

// TestMain is also the language server that Neovim starts.
func TestMain(m *testing.M) {
	if os.Getenv("FLOWRUN_TEST_LSP") != "" {
		if err := lsp.Serve(os.Stdin, os.Stdout, lsp.Config{Release: "test", Check: checkOpen}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// checkOpen is what flowrun validate finds, where open texts replace files.
func checkOpen(path string, open map[string][]byte) diag.List {
	fsys, name, opts := disk.Open(path, dsl.Options{})
	dir := path
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		dir = filepath.Dir(path)
	}
	_, list := dsl.Check(lsp.Overlay(fsys, dir, open), name, opts)
	return list
}

// client is an editor.
type client struct {
	t     *testing.T
	in    io.WriteCloser
	out   chan answer // all that the server has sent
	ended chan error
	id    int
	shown map[string]published // by URI
}

type published struct {
	Version     int
	Diagnostics []struct {
		Range   editor.Range
		Code    string
		Message string
	}
}

type answer struct {
	ID     *int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func start(t *testing.T, c lsp.Config) *client {
	t.Helper()
	if c.Check == nil {
		c.Check = checkOpen
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	e := &client{t: t, in: inW, out: make(chan answer, 1000), ended: make(chan error, 1), shown: map[string]published{}}
	go func() {
		err := lsp.Serve(inR, outW, c)
		outW.Close()
		inR.Close()
		e.ended <- err
	}()
	go e.receive(bufio.NewReader(outR))
	return e
}

func (c *client) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	body, _ := json.Marshal(m)
	if _, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) notify(method string, params any) {
	c.send(map[string]any{"method": method, "params": params})
}

// receive reads all that the server sends. Anything but messages of the protocol fails the test.
func (c *client) receive(out *bufio.Reader) {
	defer close(c.out)
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			return
		}
		n := 0
		if _, err := fmt.Sscanf(line, "Content-Length: %d\r\n", &n); err != nil {
			c.t.Errorf("the server wrote %q", line)
			return
		}
		body := make([]byte, n+2) // with the empty line
		if _, err := io.ReadFull(out, body); err != nil {
			c.t.Error(err)
			return
		}
		var a answer
		if err := json.Unmarshal(body, &a); err != nil {
			c.t.Errorf("%v: %s", err, body)
			return
		}
		c.out <- a
	}
}

func (c *client) next() answer {
	c.t.Helper()
	a, ok := <-c.out
	if !ok {
		c.t.Fatal("the server has ended")
	}
	if a.Method == "textDocument/publishDiagnostics" {
		var p struct {
			URI string
			published
		}
		if err := json.Unmarshal(a.Params, &p); err != nil {
			c.t.Fatal(err)
		}
		c.shown[p.URI] = p.published
	}
	return a
}

// ask sends a request and returns its answer.
func (c *client) ask(method string, params any) answer {
	c.t.Helper()
	c.id++
	c.send(map[string]any{"id": c.id, "method": method, "params": params})
	for {
		if a := c.next(); a.ID != nil && *a.ID == c.id {
			return a
		}
	}
}

// get is ask for a request that must be carried out.
func (c *client) get(method string, params any, into any) {
	c.t.Helper()
	a := c.ask(method, params)
	if a.Error != nil {
		c.t.Fatalf("%s: %s", method, a.Error.Message)
	}
	if err := json.Unmarshal(a.Result, into); err != nil {
		c.t.Fatalf("%s: %v: %s", method, err, a.Result)
	}
}

// diagnostics waits for the findings of a version of a text.
func (c *client) diagnostics(uri string, version int) published {
	c.t.Helper()
	for c.shown[uri].Version != version {
		c.next()
	}
	return c.shown[uri]
}

func (c *client) begin() {
	c.t.Helper()
	var got map[string]any
	c.get("initialize", map[string]any{"capabilities": map[string]any{}}, &got)
	c.notify("initialized", map[string]any{})
}

func (c *client) open(path string, version int, text string) string {
	uri := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "hcl", "version": version, "text": text}})
	return uri
}

func (c *client) change(uri string, version int, text string) {
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": version}, "contentChanges": []any{map[string]any{"text": text}}})
}

func (c *client) end() {
	c.t.Helper()
	if a := c.ask("shutdown", nil); a.Error != nil {
		c.t.Fatal(a.Error.Message)
	}
	c.notify("exit", nil)
	if err := <-c.ended; err != nil {
		c.t.Fatal(err)
	}
}

// near is the place of a mark in a text, some characters behind its beginning.
func near(uri, text, mark string, behind int) map[string]any {
	i := strings.Index(text, mark)
	if i < 0 {
		panic("the text has no " + mark)
	}
	return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": editor.NewText([]byte(text), false).Position(i + behind)}
}

const shipText = `variable "region" {
  type    = string
  default = "eu"
}

locals { name = "ship" }

workflow "ship" {
  step "build" {
    run = ["echo", "ü𝄞", var.region]
  }

  step "smoke-test" {
    run  = ["echo", "${step.build.stdout}", local.name]
    when = "step.build.status == 'succeeded' && step['build'].exit_code == 0"
  }

  step "tell" {
    run        = ["echo", step.smoke-test.stdout]
    when       = "step.smoke-test.exit_code == 0"
    depends_on = [step.build]
    on_error   = "continue"
  }
}
`

func TestSession(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "ship.flow.hcl")
	c := start(t, lsp.Config{Last: func(string, string) string { return "succeeded" }})
	c.begin()
	uri := c.open(path, 1, shipText)
	if got := c.diagnostics(uri, 1); len(got.Diagnostics) != 0 {
		t.Errorf("findings of a good text: %v", got.Diagnostics)
	}

	// A finding has its place in units of UTF-16, and a certain edit.
	broken := strings.Replace(strings.Replace(shipText, "var.region]", "var.regoin]", 1), `"continue"`, `"contniue"`, 1)
	c.change(uri, 2, broken)
	got := c.diagnostics(uri, 2)
	if len(got.Diagnostics) != 2 || !strings.Contains(got.Diagnostics[0].Message, "regoin") {
		t.Fatalf("findings: %+v", got.Diagnostics)
	}
	if r := got.Diagnostics[0].Range; r.Start.Line != 9 || r.Start.Character != 30 {
		t.Errorf("the finding is at %v, want 9:30", r)
	}
	var actions []struct {
		Title string
		Edit  struct{ Changes map[string][]textEdit }
	}
	c.get("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": got.Diagnostics[1].Range, "context": map[string]any{}}, &actions)
	if len(actions) != 1 || apply(broken, actions[0].Edit.Changes[uri]) != strings.Replace(broken, "contniue", "continue", 1) {
		t.Errorf("actions: %+v", actions)
	}
	c.change(uri, 3, shipText)
	c.diagnostics(uri, 3)

	var hover struct{ Contents struct{ Value string } }
	c.get("textDocument/hover", near(uri, shipText, "depends_on", 2), &hover)
	if !strings.Contains(hover.Contents.Value, "Nodes that must succeed") {
		t.Errorf("hover over depends_on: %s", hover.Contents.Value)
	}
	c.get("textDocument/hover", near(uri, shipText, "step.build.status", 6), &hover)
	if !strings.Contains(hover.Contents.Value, "step.build") {
		t.Errorf("hover over a node in a condition: %s", hover.Contents.Value)
	}

	var place struct{ Range editor.Range }
	for _, mark := range []string{"step.build.stdout", "step.build.status", "step.build]", "step['build"} {
		c.get("textDocument/definition", near(uri, shipText, mark, 6), &place)
		if place.Range.Start != (editor.Position{Line: 8, Character: 8}) {
			t.Errorf("the definition of %s is at %v", mark, place.Range)
		}
	}
	var places []any
	c.get("textDocument/references", near(uri, shipText, `"build"`, 2), &places)
	if len(places) != 4 {
		t.Errorf("%d references of build, want 4", len(places))
	}

	var edit struct{ Changes map[string][]textEdit }
	rename := near(uri, shipText, "step.smoke-test.exit", 8)
	rename["newName"] = "try-it"
	c.get("textDocument/rename", rename, &edit)
	if want := strings.ReplaceAll(shipText, "smoke-test", "try-it"); apply(shipText, edit.Changes[uri]) != want {
		t.Errorf("renamed:\n%s", apply(shipText, edit.Changes[uri]))
	}
	unsaved := c.open(filepath.Join(dir, "new", "x.flow.hcl"), 1, "workflow \"w\" {}\n") // in a folder that is not there
	if got := c.diagnostics(unsaved, 1).Diagnostics; len(got) != 1 || got[0].Message == "" || len(c.shown) != 2 {
		t.Errorf("findings of a text in no folder: %v", c.shown)
	}
	rename["newName"] = "build" // is there already
	if a := c.ask("textDocument/rename", rename); a.Error == nil {
		t.Error("a node got the name of another one")
	}

	var symbols []struct {
		Name     string
		Children []struct{ Name string }
	}
	c.get("textDocument/documentSymbol", near(uri, shipText, "", 0), &symbols)
	if len(symbols) != 3 || symbols[2].Name != "ship" || len(symbols[2].Children) != 3 {
		t.Errorf("symbols: %+v", symbols)
	}
	var lenses []struct{ Command struct{ Title string } }
	c.get("textDocument/codeLens", near(uri, shipText, "", 0), &lenses)
	if len(lenses) != 2 || lenses[1].Command.Title != "Last run: succeeded" {
		t.Errorf("lenses: %+v", lenses)
	}

	// Formatting changes the lines that differ, and keeps the line ends of the text.
	messy := strings.ReplaceAll(strings.Replace(shipText, "    run = [", "  run   =   [", 1), "\n", "\r\n")
	c.change(uri, 4, messy)
	var edits []textEdit
	c.get("textDocument/formatting", near(uri, messy, "", 0), &edits)
	if got := apply(strings.ReplaceAll(messy, "\r\n", "\n"), edits); strings.ReplaceAll(got, "\r\n", "\n") != shipText || len(edits) != 1 || strings.Count(edits[0].NewText, "\r\n") != 1 {
		t.Errorf("formatted: %+v", edits)
	}
	c.end()
}

type textEdit struct {
	Range   editor.Range
	NewText string
}

func apply(text string, edits []textEdit) string {
	x := editor.NewText([]byte(text), false)
	slices.SortFunc(edits, func(a, b textEdit) int { return x.Offset(b.Range.Start) - x.Offset(a.Range.Start) })
	for _, e := range edits {
		text = text[:x.Offset(e.Range.Start)] + e.NewText + text[x.Offset(e.Range.End):]
	}
	return text
}

func TestCompletion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ship.flow.hcl")
	c := start(t, lsp.Config{})
	c.begin()
	uri := c.open(path, 1, "")
	version := 1
	for _, x := range []struct{ insert, before, want, detail, not string }{
		{"    when = \"step.", `    run        =`, "build", "step, run", "local"}, // in a text without its end
		{"  st", `  step "tell"`, "step", "block", "type"},
		{"    ti", `    run        =`, "timeout", "duration", "run"},
		{"    on_timeout = ", `    run        =`, "hand_in", "on_timeout", "step"},
		{"    on_timeout = \"", `    run        =`, "hand_in", "on_timeout", "step"},
		{"    env = { A = \"${va", `    run        =`, "var", "", "block"},
		{"    env = { A = var.", `    run        =`, "region", "string", "build"},
		{"    timeout = step.build.", `    run        =`, "stdout", "string", "build"},
		{"    retry {\n      when = \"result.", `    run        =`, "stderr", "string", "output"},
		{"    quota = [step.build.stdout]\n    depends_on = [", `    run        =`, "step.smoke-test", "step, run", "local.name"},
	} {
		i := strings.Index(shipText, x.before)
		text := shipText[:i] + x.insert + "\n" + shipText[i:]
		version++
		c.change(uri, version, text)
		var got struct {
			Items []struct{ Label, Detail string }
		}
		c.get("textDocument/completion", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": editor.NewText([]byte(text), false).Position(i + len(x.insert))}, &got)
		found := false
		for _, item := range got.Items {
			if item.Label == x.want {
				found = true
				if item.Detail != x.detail {
					t.Errorf("%q offers %s as %q, want %q", x.insert, x.want, item.Detail, x.detail)
				}
			}
			if item.Label == x.not {
				t.Errorf("%q offers %s", x.insert, x.not)
			}
		}
		if !found {
			t.Errorf("%q does not offer %s: %v", x.insert, x.want, got.Items)
		}
	}
	c.end()
}

func TestProtocolRules(t *testing.T) {
	defer goleak.VerifyNone(t)
	c := start(t, lsp.Config{})
	if a := c.ask("textDocument/hover", map[string]any{}); a.Error == nil || a.Error.Code != -32002 {
		t.Errorf("before initialize: %+v", a.Error)
	}
	c.begin()
	for _, bad := range []any{nil, 7, []any{}, map[string]any{"textDocument": map[string]any{"uri": "http://x/y"}}, map[string]any{"textDocument": map[string]any{"uri": "file:///not/open.flow.hcl"}}} {
		for _, method := range []string{"textDocument/hover", "textDocument/rename", "textDocument/codeAction", "textDocument/nothing"} {
			if a := c.ask(method, bad); a.Error == nil {
				t.Errorf("%s with %v is answered: %s", method, bad, a.Result)
			}
		}
	}
	c.notify("exit", nil)
	if err := <-c.ended; !errors.Is(err, lsp.ErrNoShutdown) {
		t.Errorf("exit without shutdown: %v", err)
	}
	for _, in := range []string{"", "x", "Content-Length: -1\r\n\r\n", "Content-Length: 99999999999\r\n\r\n", "Content-Length: 5\r\n\r\n{}", strings.Repeat("a: b\r\n", 2000), "Content-Length: 2\r\n\r\n[]"} {
		if err := lsp.Serve(strings.NewReader(in), io.Discard, lsp.Config{Check: checkOpen}); err == nil {
			t.Errorf("%.20q ends without an error", in)
		}
	}
}

// examples are the files of programs in the repository.
func examples(t *testing.T) []string {
	var files []string
	for _, pattern := range []string{"../../../../examples/*/*.flow.hcl", "../../../../workflows/*/*.flow.hcl", "../../../../workflows/*.flow.hcl"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 10 {
		t.Fatalf("%d examples", len(files))
	}
	return files
}

// TestRandomEdits types at random in examples, and compares the findings with those of a check of the same bytes on the disk.
func TestRandomEdits(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := rand.New(rand.NewSource(1))
	var texts []string
	for _, f := range examples(t) {
		if data, err := os.ReadFile(f); err == nil && len(data) < 20000 {
			texts = append(texts, string(data))
		}
	}
	pieces := []string{"", "", "{", "}", "\"", "${", "}", "step.", "\n", "\r\n", "ü𝄞", "\x00", "\xff", "[", "when = \"", "<<EOT\n", "'", "#", "workflow \"x\" {\n}\n", "\ufeff", "\\", ".", "-", "["}
	path := filepath.Join(t.TempDir(), "a.flow.hcl")
	c := start(t, lsp.Config{})
	c.begin()
	text, uri := texts[0], ""
	methods := []string{"hover", "completion", "definition", "references", "prepareRename", "documentSymbol", "formatting", "codeLens"}
	for n := 1; n <= *editsFlag; n++ {
		if r.Intn(8) == 0 {
			text = texts[r.Intn(len(texts))]
		}
		from := r.Intn(len(text) + 1)
		to := min(len(text), from+r.Intn(4)*r.Intn(20))
		text = strings.ToValidUTF8(text[:from]+pieces[r.Intn(len(pieces))]+text[to:], "?")
		if uri == "" {
			uri = c.open(path, n, text)
		} else {
			c.change(uri, n, text)
		}
		got := c.diagnostics(uri, n)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := checkOpen(path, nil)
		x := editor.NewText([]byte(text), false)
		var is, should []string
		for _, d := range got.Diagnostics {
			is = append(is, fmt.Sprintln(d.Code, d.Range, d.Message))
		}
		for _, d := range want {
			message := d.Summary
			if d.Detail != "" {
				message += "\n" + d.Detail
			}
			should = append(should, fmt.Sprintln(d.Code, x.Range(editor.Span{From: d.Subject.Start.Byte, To: d.Subject.End.Byte}), message))
		}
		if !slices.Equal(is, should) {
			t.Fatalf("edit %d: the server finds\n%s\nvalidate finds\n%s\nin\n%s", n, is, should, text)
		}
		a := c.ask("textDocument/"+methods[n%len(methods)], map[string]any{"textDocument": map[string]any{"uri": uri}, "position": x.Position(from)})
		if a.Error != nil && a.Error.Code != -32803 {
			t.Fatalf("edit %d: %s: %s\n%s", n, methods[n%len(methods)], a.Error.Message, text)
		}
	}
	c.end()
}

// TestThousandSteps measures the time from an edit to its findings. It fails only where that is far from the aim, because machines differ:
// of the time the fastest edit counts, as others use this machine too, and of the processor's time the 95th of 100.
func TestThousandSteps(t *testing.T) {
	var b strings.Builder
	b.WriteString("workflow \"w\" {\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "  step \"s%d\" {\n    run  = [\"echo\", \"${step.s%d.stdout}\"]\n    when = \"step.s%d.status == 'succeeded'\"\n  }\n", i, max(i-1, 0), max(i-1, 0))
	}
	b.WriteString("}\n")
	text := strings.Replace(strings.Replace(b.String(), "${step.s0.stdout}", "x", 1), "step.s0.status == 'succeeded'", "true", 1)
	c := start(t, lsp.Config{})
	c.begin()
	uri := c.open(filepath.Join(t.TempDir(), "w.flow.hcl"), 1, text)
	c.diagnostics(uri, 1)
	var took, used []time.Duration
	for v := 2; v < 2+min(40, *editsFlag/10); v++ {
		i := strings.Index(text, fmt.Sprintf("step \"s%d\"", v*20))
		edited := text[:i] + "# edit\n  " + text[i:]
		if v%2 == 0 {
			edited = strings.Replace(edited, fmt.Sprintf("step.s%d.stdout", v*20), "step.nothing.stdout", 1)
		}
		begun, before := time.Now(), processorTime(t)
		c.change(uri, v, edited)
		if n := len(c.diagnostics(uri, v).Diagnostics); n != (v+1)%2 {
			t.Fatalf("version %d has %d findings", v, n)
		}
		took, used = append(took, time.Since(begun)), append(used, processorTime(t)-before)
	}
	slices.Sort(took)
	slices.Sort(used)
	t.Logf("from an edit in 1,000 steps to its findings: median %v, p95 %v, of the processor %v and %v", took[len(took)/2], took[len(took)*95/100],
		used[len(used)/2], used[len(used)*95/100])
	if took[0] > 2*time.Second || used[len(used)*95/100] > time.Second {
		t.Errorf("that is much more than 50 ms; the fastest took %v", took[0])
	}
	c.end()
}

// processorTime is the time that this process has used.
func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// dashes are nodes that cannot have a dash in their names: the rounds that revise becomes read them in single quotes. The server
// refuses such a name.
var dashes = map[string]string{"implement": "plan-implement-review-approve-ship.flow.hcl", "ok": "plan-implement-review-approve-ship.flow.hcl"}

// TestRenameExamples gives each node of the examples another name: the program has the same findings afterwards.
func TestRenameExamples(t *testing.T) {
	done, refused := 0, 0
	for n, file := range examples(t) {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		p := &editor.Program{}
		for _, f := range []string{path, strings.TrimSuffix(path, ".flow.hcl") + ".flowtest.hcl"} {
			if data, err := os.ReadFile(f); err == nil {
				p.Docs = append(p.Docs, editor.Read(f, editor.NewText(data, false)))
			}
		}
		before := len(checkOpen(path, nil))
		for i, s := range p.Docs[0].Symbols() {
			if s.Root != "step" || *editsFlag < 1000 && i%5 != n%5 {
				continue
			}
			for _, name := range []string{"renamed_1", "re-named"} {
				edits := p.Rename(s, name)
				open := map[string][]byte{}
				for _, d := range p.Docs {
					open[d.Name] = editor.Apply(d, edits)
				}
				done++
				after := checkOpen(path, open)
				if len(p.Docs) > 1 {
					after = append(after, checkOpen(p.Docs[1].Name, open)...)
					before := before + len(checkOpen(p.Docs[1].Name, nil))
					if len(after) == before {
						continue
					}
				} else if len(after) == before {
					continue
				}
				refused++
				if name == "re-named" && dashes[s.Text] == filepath.Base(file) {
					continue
				}
				t.Errorf("%s: %s renamed to %s: %v", file, s.Text, name, after)
			}
		}
	}
	t.Logf("%d renames, %d change the findings", done, refused)
}

// TestNeovim has Neovim show a finding and format a text.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("peer neovim: skipped (nvim is not installed)")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "ship.flow.hcl")
	if err := os.WriteFile(path, []byte(strings.Replace(shipText, "    run = [\"echo\"", "  run   =  [\"echo\"", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "t.lua")
	if err := os.WriteFile(script, fmt.Appendf(nil, neovimScript, os.Args[0], dir, path, filepath.Join(dir, "out")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(nvim, "--headless", "-u", "NONE", "-n", "-i", "NONE", "-c", "luafile "+script)
	cmd.Env = append(os.Environ(), "FLOWRUN_TEST_LSP=1", "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CACHE_HOME="+dir)
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got, _ := os.ReadFile(filepath.Join(dir, "out"))
	for _, want := range []string{"formatted", "finding 21", "hover **step.build**", "definition 8", "references 4", "completion build", "symbols 3", "action Replace with", "renamed true", "lens Run"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("Neovim does not report %q:\n%s\n%s", want, got, said)
		}
	}
	t.Logf("peer neovim: run\n%s", got)
}

const neovimScript = `
local exe, dir, path, outfile = %q, %q, %q, %q
local out = {}
local function say(...) table.insert(out, table.concat({...}, " ")) end
local ok, err = pcall(function()
  vim.cmd("edit " .. path)
  local buf = vim.api.nvim_get_current_buf()
  local id = vim.lsp.start_client({ name = "flowrun", cmd = { exe }, root_dir = dir })
  vim.lsp.buf_attach_client(buf, id)
  vim.wait(5000, function() local c = vim.lsp.get_client_by_id(id); return c and c.initialized end)
  local client = vim.lsp.get_client_by_id(id)
  local function ask(method, params)
    local r = client.request_sync(method, params, 5000, buf)
    if r.err then error(method .. ": " .. r.err.message) end
    return r.result
  end
  local doc = { uri = vim.uri_from_bufnr(buf) }
  local edits = ask("textDocument/formatting", { textDocument = doc, options = { tabSize = 2, insertSpaces = true } })
  vim.lsp.util.apply_text_edits(edits, buf, client.offset_encoding)
  if vim.api.nvim_buf_get_lines(buf, 9, 10, false)[1]:sub(1, 10) == "    run = " then say("formatted") end
  local at = function(line, word, behind)
    local text = vim.api.nvim_buf_get_lines(buf, line, line + 1, false)[1]
    local col = text:find(word, 1, true) - 1 + behind
    return { textDocument = doc, position = { line = line, character = vim.str_utfindex(text, col) } }
  end
  say("hover", ask("textDocument/hover", at(14, "step.build", 6)).contents.value)
  say("definition", ask("textDocument/definition", at(14, "step.build", 6)).range.start.line)
  local refs = at(14, "step.build", 6); refs.context = { includeDeclaration = false }
  say("references", #ask("textDocument/references", refs))
  say("symbols", #ask("textDocument/documentSymbol", { textDocument = doc }))
  for _, i in ipairs(ask("textDocument/completion", at(14, "step.build", 5)).items) do say("completion", i.label) end
  say("lens", ask("textDocument/codeLens", { textDocument = doc })[1].command.title)
  local ren = at(8, "build", 1); ren.newName = "compile"
  vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", ren), client.offset_encoding)
  local all = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
  say("renamed", tostring(all:find("step.build", 1, true) == nil and all:find("step['compile']", 1, true) ~= nil))
  local line = vim.api.nvim_buf_get_lines(buf, 21, 22, false)[1]
  vim.api.nvim_buf_set_lines(buf, 21, 22, false, { (line:gsub("continue", "contniue")) })
  vim.wait(5000, function() local all = vim.diagnostic.get(buf); return #all == 1 and all[1].lnum == 21 end)
  local d = vim.diagnostic.get(buf)[1]
  say("finding", d.lnum, d.message)
  local here = { line = d.lnum, character = d.col }
  local acts = ask("textDocument/codeAction", { textDocument = doc, range = { start = here, ["end"] = here }, context = { diagnostics = {} } })
  say("action", acts[1].title)
  client.stop()
  vim.wait(3000, function() return client.is_stopped() end)
end)
if not ok then say("error", tostring(err)) end
vim.fn.writefile(vim.split(table.concat(out, "\n"), "\n"), outfile)
vim.cmd("qa!")
`

// TestEditorFiles holds the files of editors: they start flowrun lsp, and each editor that is known has some.
func TestEditorFiles(t *testing.T) {
	for _, name := range lsp.EditorNames() {
		starts := false
		for path, text := range lsp.EditorFiles(name) {
			starts = starts || strings.Contains(string(text), `"lsp"`)
			if strings.HasSuffix(path, ".json") && !json.Valid(text) {
				t.Errorf("%s is not JSON", path)
			}
		}
		if !starts {
			t.Errorf("no file of %s starts flowrun lsp", name)
		}
	}
	if lsp.EditorFiles("ed") != nil {
		t.Error("ed is known")
	}
}
