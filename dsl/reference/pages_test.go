package reference

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the generated reference anew")

// Every code has a page, and every page a code. What pages show is run by TestPages in cmd/flowrun/internal/ui.
func TestEveryCodeHasAPage(t *testing.T) {
	for _, code := range Codes() {
		text, err := os.ReadFile(filepath.Join("codes", code+".md"))
		if err != nil {
			t.Errorf("%s (%s) has no page. Copy codes/F0116.md to codes/%s.md, write why, what to do and the two examples anew, leave the "+
				"block text empty, and run: go generate ./dsl/reference", code, Title(code), code)
			continue
		}
		p, err := ParsePage(string(text))
		switch {
		case err != nil:
			t.Errorf("codes/%s.md: %v", code, err)
		case p.Code != code || p.Title != strings.TrimSuffix(Title(code), "."):
			t.Errorf("codes/%s.md: the heading must be  # %s: %s", code, code, strings.TrimSuffix(Title(code), "."))
		case !strings.HasSuffix(p.Why, ".") || !strings.HasSuffix(p.Todo, "."):
			t.Errorf("codes/%s.md: why and what to do are sentences", code)
		}
	}
	pages, err := filepath.Glob("codes/*")
	if err != nil || len(pages) != len(Codes()) {
		t.Errorf("%d files for %d codes: %v", len(pages), len(Codes()), err)
	}
	for _, p := range pages {
		if Title(strings.TrimSuffix(filepath.Base(p), ".md")) == "" {
			t.Errorf("%s is the page of a code that does not exist", p)
		}
	}
}
