package shell

import (
	"path"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// beforeModule are the letters that may stand before the m of python's -m.
var beforeModule = lazyregexp.New(`^-[bBdEhiIOPqRsSuvVx]*m(.*)$`)

// module is where the words behind python's -m MODULE begin, with the module where it is a word of its own; 0 is nowhere.
func (j *judge) module(words []*word, i int) int {
	if !j.tool.modules || j.dashes || j.operands > 0 || !words[i].whole {
		return 0
	}
	m := beforeModule().FindStringSubmatch(words[i].text)
	if m == nil || m[1] == "" && (i+1 >= len(words) || !words[i+1].whole) {
		return 0
	}
	return i + 1
}

// runsModule judges the words of python -m as those of the command that the module is.
func (j *judge) runsModule(words []*word, option *word) *ban {
	name := beforeModule().FindStringSubmatch(option.text)[1]
	if name == "" {
		name, words = words[0].text, words[1:]
	}
	t := tables().modules[name]
	if t == nil {
		t = find(path.Base(name))
	}
	if t == nil {
		t = unknown
	}
	below := &judge{scan: j.scan, tool: t, name: name}
	return below.command(words)
}

// pinned reports whether a word names a package, and holds a value only as its version.
func (j *judge) pinned(w *word) bool {
	name, _, ok := strings.Cut(w.text, j.tool.pins)
	return j.tool.pins != "" && ok && packageName().MatchString(name)
}

var packageName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._+-]*(\[[A-Za-z0-9,._-]*\])?$`)

// define judges -D KEY=VALUE, in one word or in two.
func (j *judge) define(words []*word, i int) (more int) {
	text := words[i].text[len("-D"):]
	if text == "" && words[i].whole && i+1 < len(words) {
		more, text = 1, words[i+1].text
	}
	key, _, has := strings.Cut(text, "=")
	key, _, _ = strings.Cut(key, ":")
	if !has || !j.tool.defines(key) {
		words[i+more].no = banCode(j.name+" -D", j.tool.how)
	}
	return more
}

// plainSetting reports whether KEY=VALUE is one of git's settings whose values are never commands.
func plainSetting(text string) bool {
	key, _, has := strings.Cut(strings.ToLower(text), "=")
	for _, p := range plainSettings {
		if has && strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// readsFiles reports whether perl's text, behind -e or in the word behind it, opens the files that perl is given.
func readsFiles(text string, behind []*word) bool {
	if text == "" && len(behind) > 0 {
		text = behind[0].text
	}
	return strings.Contains(strings.ReplaceAll(text, "<<>>", ""), "<>") || strings.Contains(text, "<ARGV>")
}
