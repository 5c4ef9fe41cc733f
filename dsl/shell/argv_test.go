package shell

import (
	"strings"
	"testing"
)

// Values in a list of program and arguments are data, but for text that the program runs and words it takes for options.
func TestArgv(t *testing.T) {
	for words, want := range map[string]string{
		"sh|-c|echo «x»":                     "F0240",
		"bash|-lc|«x»":                       "F0240",
		"bash|-c|it's «x»":                   "F0240",
		"env|A=b|sh|-ec|«x» y":               "F0240",
		"docker|exec|c|sh|-c|ls «x»":         "F0240",
		"python3|-c|print('«x»')":            "F0240",
		"ssh|host|ls «x»":                    "F0240",
		"psql|-c|select '«x»'":               "F0240",
		"git|clone|«x»":                      "F0250",
		"git|clone|--|«x»":                   "",
		"tar|cf|a.tar|«x»":                   "F0250",
		"sh|-c|echo \"$1\"|sh|«x»":           "",
		"sh|build.sh|«x»":                    "",
		"«x»|a":                              "F0232",
		"python3|«x»":                        "F0239",
		"printf|«x»":                         "",
		"echo|«x»|;|sh|-c|'":                 "",
		"git|commit|-m|fix: «x»":             "",
		"curl|-d|{\"a\": \"«x»\"}|http://h/": "",
	} {
		var list [][]Part
		for _, w := range strings.Split(words, "|") {
			list = append(list, cut(w))
		}
		got := ""
		if found := (Around{}).Argv(list); len(found) > 0 {
			got = found[0].Code
		}
		if got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
}
