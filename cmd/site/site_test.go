package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	ids   = regexp.MustCompile(` id="([^"]+)"`)
	links = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
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
	var index []struct{ Path, Title, Section, Text string }
	if err := json.Unmarshal([]byte(data), &index); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for name := range files {
		left[name] = path.Ext(name) == ".html" && name != "contents.html"
	}
	for _, e := range index {
		if !left[e.Path] || e.Title == "" || e.Section == "" || e.Text == "" {
			t.Errorf("the entry of %q is not of a page, or is not whole", e.Path)
		}
		left[e.Path] = false
		if e.Path == "dsl/reference/codes/F0001.html" && !strings.Contains(e.Text, "a workflow file is read whole") {
			t.Errorf("the entry of F0001 has not the text of its page: %s", e.Text)
		}
	}
	for name, missing := range left {
		if missing {
			t.Errorf("the search does not know %s", name)
		}
	}
}
