package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/reference"
)

var (
	ids   = regexp.MustCompile(` id="([^"]+)"`)
	links = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	eaten = regexp.MustCompile(`<em>.*?(</em>|$)|<!-- raw HTML omitted -->`)
	h1    = regexp.MustCompile(`<h1[ >]`)
	title = regexp.MustCompile(`<title>[^<]+ · flowrun</title>`)
)

// TestSite builds the site: each page says its language and its title, once, and each link leads to a file of the site, and to
// an id in it, or away from the site.
func TestSite(t *testing.T) {
	files, err := build(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for name, data := range files {
		for _, m := range ids.FindAllStringSubmatch(string(data), -1) {
			if known[name+"#"+m[1]] {
				t.Errorf("%s has two elements with the id %s", name, m[1])
			}
			known[name+"#"+m[1]] = true
		}
	}
	for name, data := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		html := string(data)
		if !strings.Contains(html, `<html lang="en">`) || !title.MatchString(html) || len(h1.FindAllString(html, -1)) != 1 {
			t.Errorf("%s has not a language, a title and one h1", name)
		}
		if m := eaten.FindString(html); m != "" {
			t.Errorf("%s has emphasis, which no page means: %s. Escape the asterisk, or make it code", name, m)
		}
		for _, m := range links.FindAllStringSubmatch(html, -1) {
			u, err := url.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			if err != nil || u.Scheme != "" {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			target := name
			if u.Path != "" {
				target = path.Join(path.Dir(name), u.Path)
			}
			if files[target] == nil || u.Fragment != "" && !known[target+"#"+u.Fragment] {
				t.Errorf("%s links to %s, which is not in the site", name, m[1])
			}
		}
	}
}

// TestIndex: the search knows every page but the contents, and the words of its text.
func TestIndex(t *testing.T) {
	files, err := build(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	data := strings.TrimSuffix(strings.TrimPrefix(string(files["index.js"]), "const flowrunPages = "), ";\n")
	var index []entry
	if err := json.Unmarshal([]byte(data), &index); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for name := range files {
		left[name] = path.Ext(name) == ".html" && name != "contents.html"
	}
	anchors := 0
	for _, e := range index {
		file, id, part := strings.Cut(e.Path, "#")
		if part {
			anchors++
		} else if !left[file] {
			t.Errorf("%s has two entries, or is not a page", file)
		}
		if files[file] == nil || part && !strings.Contains(string(files[file]), ` id="`+id+`"`) || e.Title == "" || e.Section == "" || len(e.Parts) == 0 {
			t.Errorf("the entry of %q is not of a page, or is not whole", e.Path)
		}
		left[file] = false
		if e.Path == "dsl/reference/codes/F0001.html" && !strings.Contains(e.Parts[0][2], "a workflow file is read whole") {
			t.Errorf("the entry of F0001 has not the text of its page: %s", e.Parts)
		}
	}
	for name, missing := range left {
		if missing {
			t.Errorf("the search does not know %s", name)
		}
	}
	if anchors < 100 {
		t.Errorf("only %d parts of the language have entries", anchors)
	}
	queries, err := os.ReadFile("testdata/queries.txt") // what the search finds first: TestSite in testdata/browser
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(queries)), "\n") {
		_, want, _ := strings.Cut(line, " => ")
		page, id, _ := strings.Cut(want, "#")
		if files[page] == nil || id != "" && !strings.Contains(string(files[page]), ` id="`+id+`"`) {
			t.Errorf("queries.txt: %s is not in the site", line)
		}
	}
	for file := range reference.SearchWords() {
		name, id, part := strings.Cut(file, "#")
		name = address("dsl/reference/" + name)
		if part {
			name += "#" + id
		}
		if !slices.ContainsFunc(index, func(e entry) bool { return e.Path == name && e.Words != "" }) {
			t.Errorf("the words of %s are in no entry of the search", file)
		}
	}
}
