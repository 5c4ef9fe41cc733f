package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/web"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/view"
)

var truthStores = flag.String("truth.stores", "", "a folder of stores whose runs TestPagesTellTheTruth looks at, too")

// truthProgram has what pages show: groups, instances, iterations, attempts, gates, tolerated failures, calls, and a run that waits.
const truthProgram = `
gate "odd" {
  check   = "result.output % 2 == 1"
  message = "<b>even</b>"
}
workflow "main" {
  default = true
  parallel "both" {
    step "many" {
      for_each = [1, 2, 3]
      gates    = [gate.odd]
      value    = each.value
      on_error = "continue"
    }
    step "again" {
      run = "exit 3"
      retry {
        max_attempts = 2
        base_delay   = "1ms"
        when         = "true"
      }
      on_error = "continue"
    }
  }
  step "rounds" {
    value = iteration
    repeat {
      until = "result.output >= 2"
      max   = 3
    }
  }
  step "never" {
    when  = "false"
    value = 1
  }
  step "child" {
    call     = workflow.child
    on_error = "continue"
  }
  step "ask" {
    depends_on = [step.child]
    approve { prompt = "Go?" }
  }
  step "last" {
    depends_on = [step.ask]
    value      = 1
  }
}
workflow "child" {
  step "a" {
    fail { message = "no <i>way</i>" }
  }
  step "b" {
    depends_on = [step.a]
    value      = 1
  }
}
`

// TestPagesTellTheTruth looks at runs as they were after each batch of their journals: what the page says of each node is what
// runs show --json --at says. 200 random runs:
//
//	go test ./runner/engine/sim -run TestHostsAgree -sim.hosts=200 -sim.keep=DIR
//	go test ./cmd/flowrun/internal/app -run TestPagesTellTheTruth -truth.stores=DIR -v
func TestPagesTellTheTruth(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("flow.hcl", []byte(truthProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	say := func(want int, words ...string) []byte {
		t.Helper()
		var out, said bytes.Buffer
		if code := Main(words, Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Environ: os.Environ()}); code != want {
			t.Fatalf("%q: exit code %d\n%s%s", words, code, out.String(), said.String())
		}
		return out.Bytes()
	}
	say(exitWaits, "apply", "flow.hcl", "--no-wait")
	say(exitDone, "cancel", "latest", "--reason", "enough", "--wait")
	stores := []string{filepath.Join(dir, storeName)}
	if *truthStores != "" {
		more, err := filepath.Glob(filepath.Join(*truthStores, "*"))
		if err != nil || len(more) == 0 {
			t.Fatal(more, err)
		}
		stores = append(stores, more...)
	}
	runs, states, nodes := 0, 0, 0
	for _, at := range stores {
		s, err := standalone.Read(at)
		if err != nil {
			t.Fatal(err)
		}
		cut := &cutReader{Reader: s.Reader}
		s.Service.Reader = cut
		pages := web.New(serve.Reader(s))
		list, err := s.List(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range list {
			runs++
			for _, end := range endsOf(t, s, info.Run) {
				states++
				var want shownRun
				if err := json.Unmarshal(say(exitDone, "runs", "show", info.Run, "--json", "--at", fmt.Sprint(end), "--store", at), &want); err != nil {
					t.Fatal(err)
				}
				cut.run, cut.seq, cut.status = info.Run, end, want.Status
				page := draw(t, pages, "/runs/"+info.Run)
				nodes += comparePage(t, fmt.Sprintf("%s, run %s after event %d", at, info.Run, end), page, &want)
				cut.run = ""
			}
		}
		pages.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d runs, %d states, %d nodes", runs, states, nodes)
	if runs < 2 || states < 3 || nodes < 30 {
		t.Error("too few to mean anything")
	}
}

// shownRun is what is compared of the document of a run.
type shownRun struct {
	Status event.Status
	Error  *struct{ Message string }
	Nodes  []struct {
		ID, Reason        string
		Status            event.Status
		Attempts          int
		Tolerated, Reused bool
		Error             *struct{ Message string }
	}
}

// cutReader gives the journal of one run up to an event, as if the run had come so far.
type cutReader struct {
	engine.Reader
	run    string // "": none
	seq    uint64
	status event.Status
}

var errCut = errors.New("cut")

func (c *cutReader) each(run string, each func(journal.Batch) error) func(journal.Batch) error {
	return func(b journal.Batch) error {
		if run == c.run && b.Last() > c.seq {
			return errCut
		}
		return each(b)
	}
}

func uncut(err error) error {
	if errors.Is(err, errCut) {
		return nil
	}
	return err
}

func (c *cutReader) Journal(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error) {
	h, definition, err := c.Reader.Journal(ctx, run, c.each(run, each))
	if errors.Is(err, errCut) { // the header comes from a reading that is not cut short
		return c.Reader.Journal(ctx, run, func(journal.Batch) error { return nil })
	}
	return h, definition, err
}

func (c *cutReader) Batches(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, error) {
	h, err := c.Reader.Batches(ctx, run, c.each(run, each))
	return h, uncut(err)
}

func (c *cutReader) After(ctx context.Context, run string, seq uint64, each func(journal.Batch) error) error {
	return uncut(c.Reader.After(ctx, run, seq, c.each(run, each)))
}

func (c *cutReader) Find(ctx context.Context, name string) (engine.Info, error) {
	info, err := c.Reader.Find(ctx, name)
	return c.info(info), err
}

func (c *cutReader) Get(ctx context.Context, run string) (engine.Info, error) {
	info, err := c.Reader.Get(ctx, run)
	return c.info(info), err
}

func (c *cutReader) info(info engine.Info) engine.Info {
	if info.Run == c.run {
		if info.Status, info.Events = c.status, c.seq; !c.status.Terminal() {
			info.Ended, info.Driver, info.Crashed, info.Last = 0, os.Getpid(), false, 0
		}
	}
	return info
}

// endsOf gives the last event of each batch.
func endsOf(t *testing.T, s *standalone.Store, run string) (ends []uint64) {
	t.Helper()
	_, err := s.Batches(t.Context(), run, func(b journal.Batch) error {
		ends = append(ends, b.Last())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ends
}

func draw(t *testing.T, pages serve.Pages, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if w.Code != 200 {
		t.Fatalf("%s answers %d: %.2000s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

var (
	rowPattern  = regexp.MustCompile(`(?s)<tr id="n-([^"]*)">(.*?)</tr>`)
	cellPattern = regexp.MustCompile(`(?s)<td[^>]*>(.*?)</td>`)
	tagPattern  = regexp.MustCompile(`(?s)<span aria-hidden="true">.*?</span>|<[^>]*>`)
	pathPattern = regexp.MustCompile(`/node\?path=([^"]*)"`)
	tallySpan   = regexp.MustCompile(`<span>([^<]*)</span>\n`)
)

// words are the text of a piece of a page.
func words(piece string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tagPattern.ReplaceAllString(piece, " "))), " ")
}

// comparePage compares the page of a run with its document, and returns how many nodes it has compared.
func comparePage(t *testing.T, what, page string, want *shownRun) int {
	t.Helper()
	head, _, _ := strings.Cut(page, `<nav class="tabs"`)
	if !strings.Contains(head, " "+string(want.Status)+"</span>") {
		t.Errorf("%s: the head of the page does not say %s", what, want.Status)
	}
	if e := want.Error; e != nil && !strings.Contains(words(head), strings.Join(strings.Fields(e.Message), " ")) {
		t.Errorf("%s: the head of the page does not say %q", what, e.Message)
	}
	rows := rowPattern.FindAllStringSubmatch(page, -1)
	if len(rows) != len(want.Nodes) {
		t.Errorf("%s: the page has %d nodes, not %d", what, len(rows), len(want.Nodes))
		return 0
	}
	parents, counts := map[string]bool{}, map[event.Status]int{}
	for _, n := range want.Nodes {
		parents[view.Parent(n.ID)] = true
	}
	for i := range want.Nodes {
		n := &want.Nodes[i]
		if !parents[n.ID] {
			counts[n.Status]++
		}
		cells := cellPattern.FindAllStringSubmatch(rows[i][2], -1)
		if len(cells) != 4 {
			t.Fatalf("%s: a row has %d cells: %s", what, len(cells), rows[i][2])
		}
		path, _ := url.QueryUnescape(html.UnescapeString(pathPattern.FindStringSubmatch(cells[0][1])[1]))
		status := string(n.Status)
		if n.Tolerated {
			status += " tolerated"
		}
		if n.Reused {
			status += " reused"
		}
		why := n.Reason
		if n.Error != nil {
			why = n.Error.Message
		}
		if path != n.ID || html.UnescapeString(rows[i][1]) != n.ID || words(cells[1][1]) != status || words(cells[3][1]) != strings.Join(strings.Fields(why), " ") {
			t.Errorf("%s: the page says %q %q %q, and runs show %q %q %q", what, path, words(cells[1][1]), words(cells[3][1]), n.ID, status, why)
		}
		if said := strings.Contains(words(cells[0][1]), fmt.Sprintf("%d attempts", n.Attempts)); said != (n.Attempts > 1) {
			t.Errorf("%s: node %s has %d attempts, and the page says %q", what, n.ID, n.Attempts, words(cells[0][1]))
		}
	}
	tally := ""
	for _, m := range tallySpan.FindAllStringSubmatch(head, -1) {
		tally = m[1]
	}
	for status, n := range counts { // any order: each on its own
		if !strings.Contains(tally, string(status)) || !regexp.MustCompile(fmt.Sprintf(`\b%d\b`, n)).MatchString(tally) && len(counts) > 1 {
			t.Errorf("%s: %d nodes are %s, and the page says %q", what, n, status, tally)
		}
	}
	return len(want.Nodes)
}
