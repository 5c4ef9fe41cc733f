package given

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvFile(t *testing.T) {
	got, err := parseEnvFile("# first\n\nexport A=plain text  # behind\r\nB='it #is'\n" +
		"C=\"two\\nlines\\t\\\"q\\\" \\\\ \\$x \\z\"\n D = spaced\nE=\nF=a#b=c\nG='over\ntwo' # x\nA=last")
	want := map[string]string{"A": "last", "B": "it #is",
		"C": "two\nlines\t\"q\" \\ $x \\z", "D": "spaced", "E": "", "F": "a#b=c", "G": "over\ntwo"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestEnvErrors(t *testing.T) {
	for text, want := range map[string]string{
		"A=1\nhunter22\n":       "line 2: it is not of the form NAME=VALUE",
		"=hunter22":             "line 1: it is not of the form NAME=VALUE",
		"A='x\ny'\nB='hunter22": "line 3: a quote is not closed",
		"A='x' hunter22":        "line 1: there is text after the closing quote",
	} {
		_, err := parseEnvFile(text)
		if err == nil || err.Error() != want || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzEnvFile(f *testing.F) {
	f.Add("A=1\nexport B='x'\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parseEnvFile(text); err != nil && strings.Count(err.Error(), "\n") > 0 {
			t.Error(err)
		}
	})
}
