package shell

import (
	"slices"
	"testing"
)

func TestFiles(t *testing.T) {
	for script, want := range map[string][]string{
		"./scripts/build.sh --fast":                             {"scripts/build.sh"},
		"cd sub && ../build.sh; ../build.sh":                    {"../build.sh"},
		"bash -eu scripts/a.sh x | python3 'tools/b c.py'":      {"scripts/a.sh", "tools/b c.py"},
		". ./env.sh\nsource \"lib/util.sh\"":                    {"env.sh", "lib/util.sh"},
		"if true; then A=1 exec env B=2 ./c; fi; (nohup ./d &)": {"c", "d"},
		"/usr/bin/env python3 t.py; x=$(./e)":                   {"t.py", "e"},
		"go test ./... && make -C dir":                          nil,
		"bash -c './inside.sh'; python -m http.server":          nil,
		"bash \"$FILE\"; \"$DIR/x.sh\"; sh":                     nil,
		"if":                                                    nil,
	} {
		if have := Files(script); !slices.Equal(have, want) {
			t.Errorf("%q runs %q, want %q", script, have, want)
		}
	}
	for _, c := range []struct {
		argv []string
		want string
	}{{[]string{"./x"}, "x"}, {[]string{"bash", "-e", "a/b.sh"}, "a/b.sh"}, {[]string{"go", "./x"}, ""}, {[]string{"sh", ""}, ""}, {[]string{"bash", "-euo", "pipefail", "x.sh"}, "x.sh"}, {[]string{"bash", "-euc", "x"}, ""}, {[]string{"perl", "-e", "x"}, ""}, {nil, ""}} {
		if have := ArgvFile(c.argv); have != c.want {
			t.Errorf("%q runs %q, want %q", c.argv, have, c.want)
		}
	}
}
