package reference

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHowTos: the list names each page by its title, once, and each page is found by its word. What the pages show is run by
// TestHowTos in cmd/flowrun.
func TestHowTos(t *testing.T) {
	list, err := os.ReadFile("howto/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	found, err := filepath.Glob("howto/*.md")
	if err != nil || len(found) < 20 {
		t.Fatal(len(found), err)
	}
	for _, file := range found {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if name == "README" {
			continue
		}
		text, _, ok := About("howto." + name)
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		if !ok || strings.Count(string(list), "- ["+title+"]("+name+".md)\n") != 1 {
			t.Errorf("%s with the title %q is not found, or not in the list", name, title)
		}
		pages = append(pages, "howto."+name)
	}
	words := howTos()
	slices.Sort(words)
	if !slices.Equal(words, pages) {
		t.Errorf("the list has %q, and there are %q", words, pages)
	}
	if text, _, ok := About("howto"); !ok || !strings.Contains(text, "- Retry a step that fails: `flowrun explain howto.retry`") {
		t.Error(text)
	}
	if _, near, ok := About("howto.retri"); ok || near != "howto.retry" {
		t.Errorf("near howto.retri is %q", near)
	}
}
