package shell

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nested makes a random word with a value in it, places inside of places.
func nested(r *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"«x»", "a«x»", "«x»b", "$HOME«x»", "${HOME}«x»", "\\\\«x»", "\\«x»", "$«x»", "«x»«x»", "~«x»", "{«x»,c}"}[r.Intn(11)]
	}
	in := nested(r, depth-1)
	switch r.Intn(12) {
	case 0:
		return `"` + in + `"`
	case 1:
		return "'" + in + "'"
	case 2:
		return "$(printf '%s' " + in + ")"
	case 3:
		return "`printf '%s' " + in + "`"
	case 4:
		return "${none:-" + in + "}"
	case 5:
		return "${none-" + in + "}"
	case 6:
		end := fmt.Sprintf("E%d", r.Int63())
		return "$(cat <<" + end + "\n" + in + "\n" + end + "\n)"
	case 7:
		return `"a ` + in + ` $(printf '%s' "` + in + `")"`
	case 8:
		return "${HOME#" + in + "}"
	case 9:
		return `"${none:-` + in + `}"`
	case 10:
		return "$(v=" + in + `; printf '%s' "$v")`
	}
	return in + in
}

// Places inside of places, by the hundred: what is accepted runs no payload, in whatever shell. What a value becomes there is the matter of TestInjection.
func TestNestedPlaces(t *testing.T) {
	const scripts = 400
	r := rand.New(rand.NewSource(1))
	dir := t.TempDir()
	accepted := 0
	for i := range scripts {
		src := "printf '%s' " + nested(r, 1+r.Intn(4)) + " > /dev/null\n"
		d := Dialect(i % 2)
		text, list := Rewrite(cut(src), d, place)
		if list != nil || strings.Count(src, "`") > 2 { // back quotes in back quotes are not shell's
			continue
		}
		accepted++
		for _, sh := range [][]string{{"sh"}, {"bash", "--posix"}, {"bash"}}[int(d)*2:] {
			if _, err := exec.LookPath(sh[0]); err != nil {
				continue
			}
			cmd := exec.Command(sh[0], append(sh[1:], "-c", text)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME=/h")
			for v := range 40 {
				cmd.Env = append(cmd.Env, Variable(v)+"="+[]string{"$(touch pwned)", "`touch pwned`", "\"; touch pwned; \"", "'; touch pwned; '", "\"'; touch pwned #", "E\ntouch pwned\nE", "a[$(touch pwned)]", "}; touch pwned; {", "\\"}[(v+i)%9])
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v fails: %v\n%s\n%s", sh, err, text, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
				t.Fatalf("a payload ran in %v:\n%s\nwas\n%s\n%s", sh, text, src, out)
			}
		}
	}
	t.Logf("%d of %d scripts were accepted", accepted, scripts)
	if accepted < scripts/4 {
		t.Error("too few to mean anything")
	}
}
