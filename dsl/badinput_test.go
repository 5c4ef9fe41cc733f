package dsl

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The bounds that hold for bad input of up to 1 MiB: of the whole process, in CPU time, because the machine may be busy. On a
// slow or busy machine a bad file may take eight times as long as a correct file of that size.
const (
	maxBadTime  = 2 * time.Second
	maxBadBytes = 256 << 20
)

// bad is a file that nobody should have written, with the code of the first finding; "" where it is right after all.
type bad struct{ name, code, src string }

// in puts lines into a workflow.
func in(lines string) string { return "workflow \"w\" {\n" + lines + "\n}\n" }

// val puts an expression into a step.
func val(x string) string { return in("  step \"a\" { value = " + x + " }") }

// when puts a condition into a step.
func when(x string) string {
	return in("  input \"s\" {\n    default = \"x\"\n    type = string\n  }\n  step \"a\" {\n    value = 1\n    when = " + strconv.Quote(x) + "\n  }")
}

func badInputs() []bad {
	rep := strings.Repeat
	var list []bad
	add := func(group string, of ...string) { // code, src, code, src …
		for i := 0; i < len(of); i += 2 {
			list = append(list, bad{fmt.Sprintf("%s %d", group, i/2+1), of[i], of[i+1]})
		}
	}
	ok := "workflow \"w\" {\n  step \"a\" {\n    value = <<E\nx\nE\n  }\n}\n"
	add("nothing", "F0052", "", "F0052", "# a\n// b\n/* c */", "F0052", " \n\t\n", "F0010", "# a\rworkflow \"w\" {\r}\r")
	add("NUL", "F0003", val("\"a\x00b\""), "F0003", "\x00", "F0003", "# \x00\n", "F0003", val(`"a`+"\x1b[31m"+`"`))
	add("encoding", "F0002", "# \xff\n", "F0002", val("\"\xc0\xaf\""), "F0002", val("\"\xed\xa0\x80\""), "F0002", "\xff\xfew\x00o\x00r\x00k\x00", "F0002", "\xfe\xff\x00w\x00o")
	add("line ends", "", "\ufeff"+ok, "", strings.ReplaceAll(ok, "\n", "\r\n"), "", strings.TrimSuffix(ok, "\n"))
	add("unseen", "F0004", "# \u202e\n", "F0004", val("\"\u200b\""), "F0004", in("  step \"a\u2066\" { value = 1 }"), "F0004", ok+"\ufeff")
	add("look-alike", "F0105", in("  step \"stеp\" { value = 1 }"), "F0202", in("  step \"a\" { value = 1 }\n  step \"A\" { value = 1 }"), "F0105", in("  step \"é\" { value = 1 }"))
	add("unclosed", "F0031", val(`"abc`), "F0031", val(`"abc ${x`), "F0034", "a = \"abc ${x\"\n", "F0022", "workflow \"w\" {\n", "F0031", in("  step \"a\" {\n    value = <<E\n x\n  }"), "F0030", val("[1, 2"), "F0027", val("1")+"}\n", "F0054", in("  timeout = \"1s\","))
	add("a line", "F0026", in("  step \"a\" {\n    value = 1 when = \"true\"\n  }"), "F0025", in("  step \"a\" { value = 1, when = \"true\" }"))
	add("foreign", "F0008", "{\"workflow\": {}}", "F0009", "workflow:\n  steps:\n    - run: x\n", "F0007", "<<<<<<< HEAD\n"+ok+"=======\n>>>>>>> x\n")
	add("unknown", "F0102", "wrkflow \"w\" {\n}\n", "F0101", in("  step \"a\" {\n    value = 1\n    depend_on = []\n  }"), "F0109", in("  step \"a\" {\n    value = 1\n    depends_on { }\n  }"), "F0108", in("  step = 1"))
	add("labels", "F0103", "workflow {\n}\n", "F0104", "workflow \"a\" \"b\" {\n  step \"a\" { value = 1 }\n}\n", "F0104", "locals \"x\" { a = 1 }\n"+ok)
	add("twice", "F0201", ok+ok, "F0201", in("  step \"a\" { value = 1 }\n  step \"a\" { value = 1 }"), "F0201", "agent \"a\" { type = \"null\" }\nagent \"a\" { type = \"null\" }\n"+ok,
		"F0201", "variable \"a\" { default = 1 }\nvariable \"a\" { default = 1 }\n"+ok, "F0201", "locals { a = 1 }\nlocals { a = 1 }\n"+ok, "F0020", "locals {\n  a = 1\n  a = 1\n}\n"+ok)
	add("key", "F0311", val("{ a = 1, a = 2 }"))
	add("names", "F0105", in("  step \"..\" { value = 1 }"), "F0105", in("  step \"a/b\" { value = 1 }"), "F0105", in("  step \"-rf\" { value = 1 }"), "F0105", in("  step \"\" { value = 1 }"), "F0105", in("  step \"a\\nb\" { value = 1 }"),
		"F0105", in("  step \"a\\\"b\" { value = 1 }"), "F0105", in("  step \"<img onerror>\" { value = 1 }"), "F0105", in("  step \""+rep("a", 300)+"\" { value = 1 }"))
	add("no such", "F0302", val("step.b.output"), "F0218", in("  step \"a\" { agent = agent.b }"), "F0302", val("var.b"), "F0302", val("local.b"), "F0302", val("input.b"), "F0308", val("foo(1)"), "F0301", val("stp.a"))
	add("circle", "F0221", val("step.a.output"), "F0225", in("  step \"a\" { value = step.b.output }\n  step \"b\" { value = step.a.output }"), "F0225", circle(20000), "F0226", "locals {\n  a = local.b\n  b = local.a\n}\n"+ok)
	add("depends_on", "F0317", in("  step \"a\" {\n    value = 1\n    depends_on = [agent.x]\n  }"), "F0317", in("  step \"a\" {\n    value = 1\n    depends_on = step.b\n  }"), "F0317", in("  step \"a\" {\n    value = 1\n    depends_on = \"b\"\n  }"))
	add("each", "F0304", val("each.value"), "F0221", in("  step \"a\" {\n    value = step.a.output\n    for_each = [1]\n  }"), "F0216", in("  step \"a\" {\n    value = 1\n    for_each = \"abc\"\n  }"), "F0214", in("  step \"a\" {\n    value = 1\n    for_each = null\n  }"), "", in("  step \"a\" {\n    value = 1\n    for_each = []\n  }"))
	for _, n := range []string{"-1", "0", "2.5", `"three"`, "1e22", "null", "1e1000000000", "1 / 0", "true", "[]"} {
		list = append(list, bad{"max_attempts " + n, "error", in("  step \"a\" {\n    run = [\"true\"]\n    retry { max_attempts = " + n + " }\n  }")})
	}
	for _, d := range []string{`"5 minutes"`, `"-5m"`, `"5x"`, `""`, `"9999999999h"`, `"NaNs"`, `"0s"`, "true", "5"} {
		list = append(list, bad{"duration " + d, "error", in("  step \"a\" {\n    run = [\"true\"]\n    timeout = " + d + "\n  }")})
	}
	for _, x := range []string{"", "1 +", "nope == 1", "input.s > 3", "1", "input.s matches '('", "input.s = 'x'", rep("(", 600000) + "1" + rep(")", 600000), rep("(", 8000) + "1" + rep(")", 8000), "1" + rep("+1", 100000) + " > 0",
		"len(input.s " + rep("+ input.s", 1000) + ") > 0", rep("all(1..300, ", 5) + "true" + rep(")", 5), "'x' matches '(.*a){900}b'"} {
		list = append(list, bad{"condition " + x[:min(len(x), 30)], "error", when(x)})
	}
	// These are stopped when they are evaluated in a run; see the bounds of expr.
	add("for a run", "", when("reduce(1..30, #acc + #acc, input.s) == ''"), "", when("len(repeat('x', 1000000000)) > 0"), "", when("len(repeat(repeat('x', 100000), 100000)) > 0"))
	add("deep", "F0006", "a = "+rep("(", 60000), "F0006", "a = "+rep("[", 60000), "F0005", "a = "+rep("(", 100000), "F0012", "a = "+rep("!", 60000), "F0005", "a = "+rep("!", 1000000), "F0006", rep("a {\n", 300000), "F0006", "a = \""+rep("${\"", 20000), "F0006", rep("a = [\n", 100000))
	add("of many parts", "F0012", "a = "+rep("true ? 1 : ", 5000)+"1\n", "F0020", rep("a = <<E\nE\n", 90000), "F0031", "a = \""+rep("x", 60000))
	add("large", "F0055", "/*"+rep(rep("x", 1023)+"\n", 1025)+"*/\n"+ok, "F0013", "a = <<E\n"+rep(rep("x", 1023)+"\n", 1025)+"E\n", "F0005", "a = \""+rep("x", 900<<10)+"\"\n", "F0011", "a = "+rep("9", 60000)+"\n", "F0005", "a = "+rep("9", 1000000)+"\n")
	add("huge number", "F0011", val(`"${1e8000000}"`), "F0011", val("1e-99999999"), "F0011", val(rep("9", 41)))
	copies := func(form string) string {
		var b strings.Builder
		b.WriteString("locals {\n  a0 = \"xxxxxxxxxx\"\n")
		for i := 1; i <= 10; i++ {
			fmt.Fprintf(&b, "  a%d = %s\n", i, strings.ReplaceAll(form, "A", fmt.Sprintf("local.a%d", i-1)))
		}
		return b.String() + "}\n" + val("local.a10")
	}
	add("growth", "F0312", copies("\"${A}${A}${A}${A}${A}${A}${A}${A}${A}${A}\""), "F0312", copies("[A, A, A, A, A, A, A, A, A, A]"),
		"error", val(`format("%999999999s", "x")`), "error", val("length(range(1000000000)) > 0"), "error", val("[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : c]]]"), "error", val(`jsondecode("`+rep("[", 20000)+`")`), "error", val(`join("", [for a in range(1000) : join("", [for b in range(1000) : "xxxxxxxxxxxxxxxxxxxxxxxx"])])`))
	add("tried out", "", func() string {
		var b strings.Builder
		b.WriteString("locals {\n  big = range(200000)\n")
		for i := range 3000 {
			fmt.Fprintf(&b, "  l%d = length([for x in local.big : x + %d])\n", i, i)
		}
		return b.String() + "}\n" + ok
	}())
	add("many errors", "F0027", rep("?\n", 500000), "F0020", in(rep("  x = 1\n", 100000)), "F0101", in(rep("  step \"a\" { frobnicate = 1 }\n", 30000)), "F0110", in(rep("  delegate \"a\" {\n  }\n", 20000)), "F0105", in(rep("  step \"é\" { value = 1 }\n", 30000)),
		"F0302", in(func() string {
			var b strings.Builder
			for i := range 12000 {
				fmt.Fprintf(&b, "  step \"s%d\" { value = step.x%d.output + var.y%d }\n", i, i, i)
			}
			return b.String()
		}()), "F0031", rep("a = \"x\n", 130000), "F0302", in(func() string {
			var b strings.Builder
			for i := range 8000 {
				fmt.Fprintf(&b, "  step \"s%d\" {\n    value = 1\n    when = \"step.x%d.output > var.y%d\"\n  }\n", i, i, i)
			}
			return b.String()
		}()))
	add("almost right", "", in("  step \"a\" { value = 1 }"), "F0022", strings.TrimSuffix(wide(6000), "}\n"), "F0027", wide(6000)+"?\n", "", wide(6000), "", chain(20000), "", "workflow \"w\" {\n"+groups(6000)+"}\n")
	return list
}

// circle is n steps that each read the one behind.
func circle(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  step \"s%d\" { value = step.s%d.output }\n", i, (i+1)%n)
	}
	return in(b.String())
}

// Each bad file is refused for what is wrong with it, with few findings, in little time and memory: the larger ones are
// loaded by a process of their own, which is this test's binary once more.
func TestBadInput(t *testing.T) {
	if path := os.Getenv("FLOWRUN_TEST_BAD_INPUT"); path != "" {
		debug.SetMemoryLimit(208 << 20) // as the commands do that check a file
		verdict(os.Stdout, path)
		fmt.Println(peak())
		return
	}
	dir, bound := t.TempDir(), maxBadTime
	if !testing.Short() {
		correct := filepath.Join(t.TempDir(), "w.hcl")
		if err := os.WriteFile(correct, []byte(wide(6000)), 0o600); err != nil {
			t.Fatal(err)
		}
		took, _ := apart(t, correct, io.Discard)
		bound = max(bound, 8*took)
		t.Logf("a correct file takes %v; the bound is %v", took, bound)
	}
	slowest, largest := time.Duration(0), int64(0)
	for i, b := range append(badInputs(), longLists()...) {
		if len(b.src) > 5<<20/4 {
			t.Errorf("%s: the bounds hold for 1 MiB, and this has %d bytes", b.name, len(b.src))
		}
		path := filepath.Join(dir, strconv.Itoa(i), "w.hcl") // alone, because the files beside it are looked into
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(b.src), 0o600)); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if len(b.src) < 4<<10 {
			verdict(&out, path)
		} else if testing.Short() {
			continue
		} else {
			took, bytes := apart(t, path, &out)
			if took > bound { // once more: a busy machine makes caches cold
				out.Reset()
				took, bytes = apart(t, path, &out)
			}
			if took > bound || bytes > maxBadBytes {
				t.Errorf("%s took %v and %d MiB", b.name, took, bytes>>20)
			}
			slowest, largest = max(slowest, took), max(largest, bytes)
			t.Logf("%-32s %5d KiB %7v %4d MiB", b.name, len(b.src)>>10, took.Round(time.Millisecond), bytes>>20)
		}
		code, count, _ := strings.Cut(strings.TrimSpace(strings.SplitN(out.String(), "\n", 2)[0]), " ")
		n, _ := strconv.Atoi(count)
		switch {
		case n > 200:
			t.Errorf("%s: %d findings", b.name, n)
		case b.code == "error" && code != "-" || b.code == code || b.code == "" && code == "-":
		default:
			t.Errorf("%s: code %q, want %q (%.100q)", b.name, code, b.code, b.src)
		}
	}
	t.Logf("the slowest took %v, the largest %d MiB", slowest, largest>>20)
}

// verdict loads a file and writes the code of its first error, or -, and how many findings there are.
func verdict(w io.Writer, path string) {
	p, list := Load(os.DirFS(filepath.Dir(path)), filepath.Base(path), Options{})
	code := "-"
	for _, d := range list {
		if d.Subject.File == "" {
			code = d.Code + "-without-a-file"
			break
		}
		if d.Severity == 0 {
			code = d.Code
			break
		}
	}
	if (p.IR == nil) != list.HasErrors() {
		code = "neither program nor error"
	}
	fmt.Fprintln(w, code, len(list))
}

// apart has another process load a file, and tells its CPU time and the most memory that it held.
func apart(t *testing.T, path string, out io.Writer) (time.Duration, int64) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestBadInput$")
	c.Env = append(os.Environ(), "FLOWRUN_TEST_BAD_INPUT="+path)
	var text strings.Builder
	c.Stdout = &text
	if err := c.Run(); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	lines := strings.Fields(text.String())
	if len(lines) < 3 {
		t.Fatalf("%s: %q", path, text.String())
	}
	fmt.Fprintln(out, lines[0], lines[1])
	most, _ := strconv.ParseInt(lines[2], 10, 64)
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), most
}

// peak is the most memory that this process held, or 0 where the system does not say. What wait4 tells of a child
// includes what its parent held when it was started.
func peak() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	words := strings.Fields(rest)
	if len(words) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(words[0], 10, 64)
	return kib << 10
}
