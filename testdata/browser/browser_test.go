// Package browser looks at the dashboard as people do: in Chromium, with and without scripts, on a phone and on a wide screen.
//
//	go test . -chromium /usr/bin/chromium -axe axe.min.js -pictures DIR
//
// Without Chromium the tests are skipped; without the file of axe-core, the check of accessibility is.
package browser

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	chromium = flag.String("chromium", "", "the program of Chromium; without it, the first one of PATH")
	axe      = flag.String("axe", "", "the file axe.min.js of axe-core")
	every    = flag.Bool("every", false, "each page at each width without scripts, too, and not at two of them")
	only     = flag.String("only", "", "only pages whose name matches this `expression`")
	pictures = flag.String("pictures", "", "write a picture of each page into this folder")
	quiet    = flag.Bool("quiet", false, "the machine does nothing else, so that times have bounds")
)

// patience bounds every wait. It is long, because the machine may be busy.
const patience = 2 * time.Minute

// house is a store with runs, and its daemon.
type house struct {
	t       *testing.T
	program string
	dir     string
	at      string
	serves  []string // the words after flowrun serve
	daemon  *exec.Cmd
}

// flowrun runs a command in the store's folder.
func (h *house) flowrun(codes string, words ...string) string {
	h.t.Helper()
	var out, said bytes.Buffer
	c := exec.Command(h.program, words...)
	c.Dir, c.Stdout, c.Stderr = h.dir, &out, &said
	_ = c.Run() // the code tells more
	if !strings.Contains(codes, fmt.Sprint(c.ProcessState.ExitCode())) {
		h.t.Fatalf("flowrun %s: %v\n%s%s", strings.Join(words, " "), c.ProcessState, out.String(), said.String())
	}
	return out.String()
}

// serve starts the daemon, and waits until it answers.
func (h *house) serve() {
	h.t.Helper()
	h.daemon = exec.Command(h.program, append([]string{"serve", "--listen", strings.TrimPrefix(h.at, "http://")}, h.serves...)...)
	h.daemon.Dir = h.dir
	if err := h.daemon.Start(); err != nil {
		h.t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", strings.TrimPrefix(h.at, "http://"))
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			h.t.Fatal("the daemon does not answer")
		}
	}
}

func (h *house) stop() {
	_ = h.daemon.Process.Signal(syscall.SIGTERM)
	_ = h.daemon.Wait() // its code is that of a stop
}

var built struct {
	sync.Once
	program string
	err     error
}

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "browser")
	if err != nil {
		panic(err)
	}
	built.program = filepath.Join(dir, "flowrun")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// newHouse makes a folder with a program, and a place for its daemon. It skips the test where there is no browser.
func newHouse(t *testing.T, file string) *house {
	t.Helper()
	if browserPath() == "" {
		t.Skip("peer Chromium: skipped (it is not on the PATH)")
	}
	built.Do(func() {
		c := exec.Command("go", "build", "-o", built.program, "./cmd/flowrun")
		c.Dir, c.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, program: built.program, dir: t.TempDir(), at: "http://" + l.Addr().String()}
	l.Close()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h.write("flow.hcl", string(text))
	return h
}

// write writes a file in the folder of the store.
func (h *house) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// browserPath is the program of Chromium; "" where there is none.
func browserPath() string {
	if *chromium != "" {
		return *chromium
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	return ""
}

// open makes a store with runs, serves it, and opens a browser.
func open(t *testing.T) (*house, *browser) {
	t.Helper()
	h := newHouse(t, "flow.hcl")
	h.flowrun("1", "apply", "flow.hcl", "release")
	h.flowrun("4", "apply", "flow.hcl", "approval", "--no-wait")
	h.flowrun("0", "apply", "flow.hcl", "quick")
	h.flowrun("0", "apply", "flow.hcl", "quick") // of the second there is a forecast
	h.flowrun("1", "apply", "flow.hcl", "many")
	h.flowrun("0", "dispatch", "Fix <script>alert(1)</script>", "--to", "nobody")
	h.flowrun("0", "memory", "add", "--id", "M-1", "--lesson", "Raise the timeout of the parser test <script>alert(1)</script>", "--context", "A slow machine", "--tag", "parser", "--embedder", "none")
	h.flowrun("0", "memory", "add", "--id", "M-2", "The parser reads 4 KiB at once", "--embedder", "none")
	h.serves = []string{"flow.hcl", "--no-token"}
	h.serve()
	t.Cleanup(h.stop)
	return h, newBrowser(t, h.at)
}

// newBrowser opens a browser.
func newBrowser(t *testing.T, at string) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browserPath()), chromedp.NoSandbox)
	for _, name := range []string{"disable-quic", "disable-gpu", "disable-background-networking", "disable-component-update"} {
		options = append(options, chromedp.Flag(name, true))
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx, at: at}
	err := chromedp.Do(ctx, chromedp.Sleep(0)) // the browser lives as long as the context of the first step
	if err == nil {
		err = chromedp.Listen(ctx, b.hear)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// browser is a tab. It remembers what pages must never do: dialogs, errors of scripts, and what their policy refused.
type browser struct {
	t   *testing.T
	ctx context.Context
	at  string

	mu    sync.Mutex
	wrong []string
}

func (b *browser) hear(event any) {
	text := ""
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		text = "a dialog: " + e.Message
	case *runtime.EventExceptionThrown:
		text = fmt.Sprintf("an error: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *log.EventEntryAdded: // such as what the policy of the pages refused
		if e.Entry.Level == "error" && !strings.Contains(e.Entry.Text, "404") && !strings.Contains(e.Entry.URL, "/live") {
			text = "the browser says: " + e.Entry.Text
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			text = fmt.Sprintf("console: %v", e.Args)
		}
	}
	if text != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.wrong = append(b.wrong, text)
	}
}

// clean fails where something went wrong since the last time.
func (b *browser) clean(what string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		b.t.Errorf("%s: %s", what, w)
	}
	b.wrong = nil
}

// forget takes what went wrong so far as right.
func (b *browser) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = nil
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.at + path))
}

// says evaluates an expression of a text.
func (b *browser) says(expression string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return text
}

// until waits until an expression is true, and returns how long that took.
func (b *browser) until(expression string) time.Duration {
	b.t.Helper()
	begin := time.Now()
	for {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression))
		if err == nil && ok {
			return time.Since(begin)
		}
		if time.Since(begin) > patience {
			b.t.Fatalf("%s does not come true (%v):\n%s", expression, err, b.says("document.body.innerText"))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (b *browser) size(width int) { b.do(chromedp.EmulateViewport(int64(width), 800)) }

func (b *browser) scripts(on bool) {
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) colours(scheme string) {
	p := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
		b.t.Fatal(err)
	}
}

// picture writes the whole page into a file.
func (b *browser) picture(name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name), picture, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}

var runID = regexp.MustCompile(`"run":"([^"]+)","workflow":"([^"]+)"`)

// runs are the newest run of each workflow.
func (h *house) runs() map[string]string {
	h.t.Helper()
	list := map[string]string{}
	for _, m := range runID.FindAllStringSubmatch(strings.NewReplacer(": ", ":", "\n", "", `, "`, `,"`, "  ", "").Replace(h.flowrun("0", "runs", "list", "--json")), -1) {
		if list[m[2]] == "" {
			list[m[2]] = m[1]
		}
	}
	if list["release"] == "" || list["approval"] == "" {
		h.t.Fatal(list)
	}
	return list
}

// pages are all pages, by a short name.
func (h *house) pages() map[string]string {
	runs := h.runs()
	release, many := "/runs/"+runs["release"], "/runs/"+runs["many"]
	all := map[string]string{"now": "/", "runs": "/runs", "run": release, "graph": release + "?tab=graph", "timeline": release + "?tab=timeline", "zoom": release + "?tab=timeline&from=1&to=8",
		"definition": release + "?tab=definition", "node": release + "/node?path=build", "instance": release + "/node?path=" + url.QueryEscape("test[2]"), "agent": release + "/node?path=review",
		"waiting": "/runs/" + runs["approval"], "asked": "/runs/" + runs["approval"] + "/node?path=ok", "inbox": "/inbox", "loops": "/loops", "routines": "/routines", "events": "/events",
		"limits": "/limits", "numbers": "/numbers?by=agent", "letters": "/letters", "audit": "/audit", "login": "/login", "error": "/nope",
		"memory": "/memory", "found": "/memory?query=parser", "entry": "/memory/entry?id=M-1",
		"many": many, "below": many + "?under=all", "many-timeline": many + "?tab=timeline", "many-graph": many + "?tab=graph",
		"compare": "/compare?all=1&a=" + runs["approval"] + "&b=" + runs["release"]}
	chosen := regexp.MustCompile(*only)
	maps.DeleteFunc(all, func(name, _ string) bool { return !chosen.MatchString(name) })
	return all
}

// unformatted is what a page says that only programs write: a value that could not be formatted, an address in memory.
const unformatted = `(/%!\w\(.{0,40}|0x[0-9a-f]{8,}|<no value>|<nil>|\[object \w+\]/.exec(document.body.innerText) ?? [""])[0]`

// check looks at the page that is open.
func (b *browser) check(what string) {
	b.t.Helper()
	if text := b.says("document.querySelector('h1')?.innerText ?? ''"); text == "" {
		b.t.Errorf("%s has no heading", what)
	}
	if wide := b.says("String(document.documentElement.scrollWidth - innerWidth)"); !strings.HasPrefix(wide, "-") && wide != "0" {
		b.t.Errorf("%s is %s pixels too wide", what, wide)
	}
	if wrong := b.says(unformatted); wrong != "" {
		b.t.Errorf("%s says %q", what, wrong)
	}
	if found := b.says("String(document.querySelectorAll('main script, main img, main [onerror], main b, main iframe').length)"); found != "0" {
		b.t.Errorf("%s has %s elements that come from texts of a run", what, found)
	}
}

// TestEmpty: a store in which nothing has run has all pages, too.
func TestEmpty(t *testing.T) {
	h := newHouse(t, "flow.hcl")
	h.serves = []string{"--no-token"}
	h.serve()
	t.Cleanup(h.stop)
	b := newBrowser(t, h.at)
	for _, width := range []int{360, 1600} {
		b.size(width)
		for _, name := range []string{"", "runs", "inbox", "loops", "routines", "events", "limits", "numbers", "memory", "letters", "audit", "compare"} {
			what := fmt.Sprintf("%s at %d, empty", name, width)
			b.open("/" + name)
			b.check(what)
			b.clean(what)
			if *pictures != "" {
				b.picture(fmt.Sprintf("empty-%s-%d.png", name, width))
			}
		}
	}
}

// sideways are the sections whose tables are wider than their place, folded ones too.
const sideways = `(document.querySelectorAll("details").forEach(d => d.open = true),
	[...document.querySelectorAll(".wide")].filter(w => w.scrollWidth > w.clientWidth).map(w => w.closest("section").innerText.split("\n")[0] + " by " + (w.scrollWidth - w.clientWidth)).join(", "))`

// TestEveryPage: on a phone, a tablet and a wide screen, with and without scripts, no page is wider than the screen, no text of a run becomes
// code, and nothing is refused by the policy of the pages.
func TestEveryPage(t *testing.T) {
	h, b := open(t)
	for _, scripts := range []bool{true, false} {
		b.scripts(scripts)
		for _, width := range []int{360, 800, 1600} {
			if !scripts && width == 800 && !*every {
				continue
			}
			b.size(width)
			for name, path := range h.pages() { // any order: each on its own
				what := fmt.Sprintf("%s at %d, scripts %v", name, width, scripts)
				b.open(path)
				b.check(what)
				if width == 360 && (name == "limits" || name == "numbers") {
					if wide := b.says(sideways); wide != "" {
						b.t.Errorf("%s: tables scroll sideways: %s", what, wide)
					}
				}
				b.clean(what)
				if *pictures != "" && scripts {
					b.picture(fmt.Sprintf("%s-%d.png", name, width))
				}
			}
		}
	}
}

// TestAccessible: axe-core finds no violation of WCAG 2.2 AA on any page, light and dark.
func TestAccessible(t *testing.T) {
	if *axe == "" {
		t.Skip("peer axe-core: skipped (-axe names no file)")
	}
	h, b := open(t)
	b.size(1200)
	for _, scheme := range []string{"light", "dark"} {
		b.colours(scheme)
		for name, path := range h.pages() { // any order: each on its own
			b.open(path)
			if *pictures != "" && scheme == "dark" {
				b.picture(name + "-dark.png")
			}
			b.accessible(name + ", " + scheme)
		}
	}
}

// accessible runs axe-core on the open page.
func (b *browser) accessible(what string) {
	b.t.Helper()
	code, err := os.ReadFile(*axe)
	if err == nil {
		_, err = chromedp.Run(b.ctx, chromedp.Evaluate[any](string(code)+";0"))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	found := b.says(`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
		.then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.html + " " + (n.any[0]?.message ?? "")).slice(0, 3).join(" | ")).join("\n"))`)
	if found != "" {
		b.t.Errorf("%s:\n%s", what, found)
	}
}

// TestLive: a page that is open shows what happens, also after the server was started anew, and keeps what somebody is typing.
func TestLive(t *testing.T) {
	h, b := open(t)
	run := h.runs()["approval"]
	b.open("/runs/" + run)
	b.until(`document.querySelector("#main").innerText.includes("waiting")`)
	h.flowrun("0", "decide", run, "ok", "approve", "--as", "ann")
	t.Logf("the end of the run is on the screen %s after the command", b.until(`document.querySelector("#main").innerText.includes("2 succeeded")`))
	if again := b.says(`performance.getEntriesByType("navigation").length + " " + performance.getEntriesByType("navigation")[0].type`); again != "1 navigate" {
		t.Errorf("the page was loaded again: %s", again)
	}

	b.open("/runs")
	b.clean("live")
	h.stop()
	h.serve()
	h.flowrun("1", "apply", "flow.hcl", "release")
	b.until(`document.querySelectorAll("#main tbody tr").length >= 5`)
	b.forget() // the stream of a server that is away is an error for the browser

	h.flowrun("4", "apply", "flow.hcl", "approval", "--no-wait")
	b.open("/inbox")
	b.do(chromedp.SendKeys(chromedp.CSS(`input[name="comment"]`), "half a sen"))
	h.flowrun("1", "apply", "flow.hcl", "release")
	time.Sleep(time.Second) // long enough for a page that would draw itself again
	if typed := b.says(`document.querySelector('input[name="comment"]').value`); typed != "half a sen" {
		t.Errorf("what was typed is %q", typed)
	}
	b.clean("live")
}

// TestFirstPaint: the page of a run of 8 nodes, with all its files, comes in less than 60 KiB, and is painted 150 ms after it was asked for in
// the median of 11 loads, if the machine does nothing else (-quiet).
func TestFirstPaint(t *testing.T) {
	h, b := open(t)
	path := "/runs/" + h.runs()["release"]
	var paints []float64
	for range 11 {
		b.open(path)
		b.until(`performance.getEntriesByName("first-contentful-paint").length == 1`)
		var paint float64
		if _, err := fmt.Sscan(b.says(`String(performance.getEntriesByName("first-contentful-paint")[0].startTime)`), &paint); err != nil {
			t.Fatal(err)
		}
		paints = append(paints, paint)
	}
	var size int
	all := `String([...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, e) => sum + e.encodedBodySize, 0))`
	if _, err := fmt.Sscan(b.says(all), &size); err != nil {
		t.Fatal(err)
	}
	slices.Sort(paints)
	median := paints[len(paints)/2]
	t.Logf("first paint after %.0f ms in the median (%.0f to %.0f), %d bytes with all files", median, paints[0], paints[len(paints)-1], size)
	if size > 60<<10 || size == 0 {
		t.Errorf("the page and its files have %d bytes", size)
	}
	if *quiet && median > 150 {
		t.Errorf("first paint after %.0f ms", median)
	}
}
