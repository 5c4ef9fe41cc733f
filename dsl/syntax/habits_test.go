package syntax

import (
	"strings"
	"testing"
)

// A missing brace is looked for where the indentation says that a block ended; lines of heredocs and comments say nothing.
func TestUnclosed(t *testing.T) {
	for _, c := range []struct{ name, src, at, note string }{
		{"the last", "a {\n  b {\n  }\n", "1:3", ""},
		{"an inner one at the end", "a {\n  b {\n    c = 1\n", "2:5", ""},
		{"before a block beside it", "a {\n  b {\n    c = 1\n  d {\n  }\n}\n", "2:5", "4:3"},
		{"before the brace of the block around it", "a {\n  b {\n    c {\n  }\n}\n", "3:7", "4:3"},
		{"before an attribute", "a {\n  b {\n  c = 1\n}\n", "2:5", "3:3"},
		{"an object", "a {\n  b = {\n    c = 1\n  d = 1\n}\n", "2:7", "4:3"},
		{"behind a heredoc", "a {\n  b = <<EOT\nx {\n EOT\n  c {\n    d = 1\n", "5:5", ""},
		{"behind comments", "a {\n# x {\n// x {\n  c {\n    d = 1\n", "4:5", ""},
		{"behind lists", "a {\n  b = [\n    1,\n  ]\n  c = [{\n    d = 1\n  }]\n  e {\n", "8:5", ""},
		{"without indentation", "a {\nb = 1\n", "1:3", "2:1"},
	} {
		_, list := Parse("x", []byte(c.src))
		if len(list) != 1 || list[0].Code != "F0022" {
			t.Fatalf("%s: %v", c.name, list)
		}
		note := ""
		if len(list[0].Notes) > 0 {
			note = strings.TrimPrefix(list[0].Notes[0].Range.String(), "x:")
		}
		if at := strings.TrimPrefix(list[0].Subject.String(), "x:"); at != c.at || note != c.note {
			t.Errorf("%s: at %s, note at %s; want %s, %s", c.name, at, note, c.at, c.note)
		}
	}
}

// A condition without its quotes is shown as it must be written, whatever HCL finds wrong with it.
func TestUnquotedConditions(t *testing.T) {
	for line, want := range map[string]string{
		`when = step.b.exit_code = 0`:              `when = "step.b.exit_code == 0"`,
		`when = step.b.status = "failed"`:          `when = "step.b.status == 'failed'"`,
		`when = step.b.status = 'failed'`:          `when = "step.b.status == 'failed'"`,
		`when = a = b && c = d`:                    `when = "a == b && c == d"`,
		`when = a === b`:                           `when = "a == b"`,
		`when = a !== b`:                           `when = "a != b"`,
		`when = a => b`:                            `when = "a >= b"`,
		`when = a =< b`:                            `when = "a <= b"`,
		`when = a <> b`:                            `when = "a != b"`,
		`when = a =~ "b"`:                          `when = "a matches 'b'"`,
		`when = not a`:                             `when = "not a"`,
		`when = a and b`:                           `when = "a and b"`,
		`when = a ?? true`:                         `when = "a ?? true"`,
		`when = a in ["b"]`:                        `when = "a in ['b']"`,
		`when = (a = b)`:                           `when = "(a == b)"`,
		`repeat { until = iteration = 3 }`:         `until = "iteration == 3"`,
		`gate "g" { check = result.output = "x" }`: `check = "result.output == 'x'"`,
		`  condition = var.x = 1`:                  `condition = "var.x == 1"`,
	} {
		_, list := Parse("x", []byte("workflow \"w\" {\n"+line+"\n}\n"))
		if len(list) != 1 || !strings.HasPrefix(list[0].Detail, "Write it as  "+want+".") {
			t.Errorf("%s: %v", line, list)
		}
	}
	for line, want := range map[string]string{
		`value = a = b`: "A second equals sign on a line", `value = [a = b]`: "A single = in an expression", `value = "${a = b}"`: "A single = in an expression",
		`when = "a" in b`: "More than one thing on a line", `task = say hello`: "Text without quotes", "value = [1,\nother = 2\n]": "List or call without its closing bracket",
	} {
		_, list := Parse("x", []byte("workflow \"w\" {\n"+line+"\n}\n"))
		if len(list) == 0 || list[0].Summary != want && !strings.HasPrefix(list[0].Summary, "Text behind") {
			t.Errorf("%s: %v", line, list)
		}
	}
}
