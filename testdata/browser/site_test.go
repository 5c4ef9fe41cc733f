package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// sitePages are pages of the documentation, one of each kind.
var sitePages = []string{"index", "contents", "dsl/reference/language", "dsl/reference/topics/schedule", "dsl/reference/howto/index", "dsl/reference/howto/approve",
	"dsl/reference/commands/index", "dsl/reference/commands/apply", "dsl/reference/codes/F0302", "workflows/index", "workflows/team/index"}

// TestSite: on the site of the documentation axe-core finds no violation, light and dark, no page is wider than a phone, and the search leads to
// the page of a task, with the keyboard alone.
func TestSite(t *testing.T) {
	if browserPath() == "" {
		t.Skip("peer Chromium: skipped (it is not on the PATH)")
	}
	dir := t.TempDir()
	c := exec.Command("go", "run", "./cmd/site", "-o", dir)
	c.Dir, c.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer s.Close()
	b := newBrowser(t, s.URL)
	for _, scheme := range []string{"light", "dark"} {
		b.colours(scheme)
		for _, page := range sitePages {
			b.size(1200)
			b.open("/" + page + ".html")
			if *axe != "" {
				b.accessible(page + ", " + scheme)
			}
			b.size(360)
			if wide := b.says(`String(document.documentElement.scrollWidth)`); wide != "360" {
				t.Errorf("%s is %s pixels wide on a phone", page, wide)
			}
			if *pictures != "" {
				b.picture(fmt.Sprintf("site-%s-%s.png", strings.ReplaceAll(page, "/", "-"), scheme))
			}
		}
	}
	b.size(1200)
	b.open("/index.html")
	b.do(chromedp.SendKeys(chromedp.CSS("#flowrun-query"), "repeat a step that fails"))
	b.until(`document.querySelector("#flowrun-found a")?.innerText === "Retry a step that fails"`)
	b.do(chromedp.SendKeys(chromedp.CSS("#flowrun-query"), "\t\r"))
	b.until(`document.querySelector("h1")?.innerText === "Retry a step that fails"`)
	queries, err := os.ReadFile("../../cmd/site/testdata/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	b.until(`typeof flowrunSearch === "function"`)
	for _, line := range strings.Split(strings.TrimSpace(string(queries)), "\n") {
		query, want, _ := strings.Cut(line, " => ")
		if first := b.says(fmt.Sprintf("flowrunSearch(flowrunPages, %q).hits[0]?.path ?? `nothing`", query)); first != want {
			t.Errorf("the search for %q finds first %s, and not %s", query, first, want)
		}
	}
	b.clean("site")
}
