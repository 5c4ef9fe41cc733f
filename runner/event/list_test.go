package event

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Sources that ask the same list have one name for it, and others have others.
func TestListName(t *testing.T) {
	name := func(dir, source string, kind ir.SourceKind, config map[string]value.Value, late ...Late) string {
		return ListName(&SourceRequest{Source: source, Kind: kind, Config: config}, late, dir)
	}
	file := func(path string) map[string]value.Value { return map[string]value.Value{"path": path} }
	url := map[string]value.Value{"url": "https://a.example"}
	secret := Late{Place: "source.url", Expr: ir.Expr{Text: "var.url"}}
	for _, c := range []struct {
		what string
		a, b string
		same bool
	}{
		{"a file, named in two ways", name("/p/one", "backlog", ir.SourceFile, file("../TODO.md")), name("/p", "backlog-2", ir.SourceFile, file("/p/TODO.md")), true},
		{"files of two folders", name("/p/one", "backlog", ir.SourceFile, file("TODO.md")), name("/p/two", "backlog", ir.SourceFile, file("TODO.md")), false},
		{"an address", name("/p", "backlog", ir.SourceHTTP, url), name("/q", "backlog", ir.SourceHTTP, map[string]value.Value{"url": "https://a.example", "headers": "h"}), true},
		{"a secret address", name("/p", "backlog", ir.SourceHTTP, nil, secret), name("/q", "backlog", ir.SourceHTTP, nil, secret), false},
		{"a secret header", name("/p", "backlog", ir.SourceHTTP, url), name("/q", "backlog", ir.SourceHTTP, url, Late{Place: "source.headers"}), true},
		{"a program of two folders", name("/p", "backlog", ir.SourceExec, nil), name("/q", "backlog", ir.SourceExec, nil), false},
		{"the queue of the store", name("/p", "dispatch", ir.SourceDispatch, nil), "dispatch", true},
	} {
		if (c.a == c.b) != c.same {
			t.Errorf("%s: %s and %s", c.what, c.a, c.b)
		}
		if shown := ShownItem(c.a + "/x/1"); !strings.HasSuffix(shown, "/x/1") || strings.Contains(shown, "@") {
			t.Errorf("%s is shown as %s", c.a, shown)
		}
	}
}
