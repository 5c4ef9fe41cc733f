package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// testdata/places.txt says of each place what becomes of a value in it. Values stand in « »; a column of a finding counts
// bytes of the whole text.
func TestPlaces(t *testing.T) {
	datadriven.RunTest(t, "testdata/places.txt", func(t *testing.T, d *datadriven.TestData) string {
		dialect := POSIX
		if d.Cmd == "bash" {
			dialect = Bash
		}
		text, list := Rewrite(cut(d.Input), dialect, place)
		if len(list) == 0 {
			return text + "\n"
		}
		var b strings.Builder
		for _, f := range list {
			from := max(0, f.Subject.Start.Byte-14)
			near := d.Input[from:min(len(d.Input), f.Subject.End.Byte)]
			if i := strings.LastIndex(near, "\n"); i >= 0 && i < len(near)-1 {
				near = near[i+1:]
			}
			fmt.Fprintf(&b, "%s %s: …%s\n", f.Code, f.Summary, strings.ToValidUTF8(near, ""))
		}
		return b.String()
	})
}

// The text of a script stays as it is but for quotes around values.
func TestTextStays(t *testing.T) {
	src := "# über\n\tif  true ;then\n  echo  «x»   \\\n    'b «y»' \"c\";fi\n\n"
	text, list := Rewrite(cut(src), POSIX, place)
	want := "# über\n\tif  true ;then\n  echo  \"${FLOWRUN_V0}\"   \\\n    'b '\"${FLOWRUN_V1}\"'' \"c\";fi\n\n"
	if text != want || list != nil {
		t.Errorf("%q\n%v", text, list)
	}
	if text, list := Rewrite(cut("if ( unread"), POSIX, place); text != "if ( unread" || list != nil {
		t.Errorf("a script without values is judged: %v", list)
	}
}

// Each bound holds at the bound, and one beyond is refused fast.
func TestBounds(t *testing.T) {
	script := func(n int, unit, tail string) string {
		return "echo «x»; " + strings.Repeat(unit, n) + tail
	}
	for name, c := range map[string]struct {
		script string
		fits   bool
	}{
		"longest":         {script(MaxScript-len("echo ${FLOWRUN_V0}; "), "a", ""), true},
		"too long":        {script(MaxScript-len("echo ${FLOWRUN_V0}; ")+1, "a", ""), false},
		"most values":     {strings.Repeat("echo «x»;", MaxValues), true},
		"too many values": {strings.Repeat("echo «x»;", MaxValues+1), false},
		"deepest":         {script(MaxDepth-1, "( ", "a"+strings.Repeat(")", MaxDepth-1)), true},
		"too deep":        {script(MaxDepth+1, "( ", "a"+strings.Repeat(")", MaxDepth+1)), false},
		"deep words":      {script(MaxDepth+1, "if ", ""), false},
		"deep prefixes":   {script(1, "echo $(("+strings.Repeat("-", 60000), "1))"), true},
	} {
		began := time.Now()
		_, list := Rewrite(cut(c.script), POSIX, place)
		fits := !(len(list) > 0 && list[0].Code == "F0248")
		if fits != c.fits || time.Since(began) > 30*time.Second { // an idle machine needs milliseconds
			t.Errorf("%s: %v after %s", name, list, time.Since(began))
		}
	}
}

func FuzzRewrite(f *testing.F) {
	for _, c := range contexts {
		before, _, _ := strings.Cut(c.script, "«x»")
		f.Add(before, c.bash)
	}
	f.Fuzz(func(t *testing.T, src string, bash bool) {
		d := POSIX
		if bash {
			d = Bash
		}
		parts := []Part{{Text: src}, {Value: true, Text: "x"}}
		for i := 0; i <= len(src); i++ {
			parts[0].From = append(parts[0].From, i)
		}
		text, list := Rewrite(parts, d, place)
		if len(list) == 0 && !strings.Contains(text, Variable(0)) {
			t.Errorf("the value is lost in %q", text)
		}
	})
}

// Variables of programs that builds and deployments start, and what read takes beside names.
func TestDecides(t *testing.T) {
	for _, name := range strings.Fields("GIT_INDEX_FILE NODE_V8_COVERAGE NODE_REDIRECT_WARNINGS SSLKEYLOGFILE GOAUTH PYTEST_ADDOPTS PYTEST_PLUGINS CLOUDSDK_PYTHON FLASK_APP JAVACMD " +
		"CONFIG_SITE CONFIG_SHELL PYLINTRC MAGICK_CONFIGURE_PATH TF_DATA_DIR TF_LOG_PATH FFREPORT PUPPETEER_EXECUTABLE_PATH CHROME_BIN ESBUILD_BINARY_PATH YARN_YARN_PATH GEMRC IRBRC SPEC_OPTS " +
		"CODEX_HOME CLAUDE_CONFIG_DIR CLAUDE_CODE_SHELL_PREFIX GH_CONFIG_DIR GNUPGHOME BORG_RSH GVIMINIT PARALLEL_SHELL PARALLEL GOWORK GOBIN RUSTDOCFLAGS VAULT_CONFIG_PATH MYSQL_HOME MPLBACKEND AZURE_EXTENSION_DIR") {
		if !Decides(name) {
			t.Errorf("%s decides nothing", name)
		}
	}
	for _, name := range strings.Fields("NAME VERSION TAG APP_ENV GIT_AUTHOR_NAME GOOS RUST_LOG") {
		if Decides(name) {
			t.Errorf("%s decides", name)
		}
	}
}

func TestReadPrompt(t *testing.T) {
	for script, refused := range map[string]bool{
		`read -r -p "Deploy «x»? " a`: false, `read -rp "Deploy «x»? " a`: false, `read "-pDeploy «x»? " a`: false, `read -r "«x»"`: true, `read -a "«x»"`: true, `read -p hi "«x»"`: true, `read -pi "«x»"`: true, `read -n "«x»" a`: true, `read -ap "«x»"`: true, `read -np "«x»"`: true,
	} {
		if _, list := Rewrite(cut(script), Bash, place); len(list) > 0 != refused {
			t.Errorf("%s: refused %v", script, !refused)
		}
	}
}
