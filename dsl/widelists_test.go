package dsl

import (
	"fmt"
	"strconv"
	"strings"
)

// list makes a file of almost 1 MiB, or of n items if n is not 0: item stands in it over and over, with its number for
// each %d.
func list(n int, head, item, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; n == 0 && b.Len()+len(item)+len(tail) < 1<<20-64 || i < n; i++ {
		b.WriteString(strings.ReplaceAll(item, "%d", strconv.Itoa(i)))
	}
	return b.String() + tail
}

// longLists are files in which one list of the language is as long as 1 MiB allows: for each list of the schema that can be
// written out, and for what is computed over long ones.
func longLists() (out []bad) {
	add := func(name, code, src string) { out = append(out, bad{name, code, src}) }
	one := "step \"a\" { value = 1 }\n"
	flow, end := "workflow \"w\" {\n", "}\n"
	number := "input \"n\" {\n  type = number\n  default = 1\n}\n"

	add("enum", "F0280", list(0, "variable \"v\" {\n  type = string\n  enum = [\n", "\"e%d\",\n", "]\n}\n"+in(one)))
	add("workflows", "", list(0, "", "workflow \"w%d\" {\n  step \"a\" { value = 1 }\n}\n", ""))
	add("workflows that call", "", list(0, in(one), "workflow \"v%d\" {\n  step \"a\" { call = workflow.w }\n}\n", ""))
	add("calls of nothing", "F0218", list(0, "", "workflow \"w%d\" {\n  step \"a\" { call = workflow.x%d }\n}\n", ""))
	add("switch", "", list(0, flow+number+"switch \"s\" {\n", "case {\n  when = \"input.n == %d\"\n  step \"s%d\" { value = 1 }\n}\n", end+end))
	add("gates", "", list(0, flow+"step \"a\" {\nrun = [\"true\"]\n", "gate \"g%d\" { check = \"result.exit_code == %d\" }\n", end+end))
	add("parallel", "", list(0, flow+"parallel \"p\" {\n", "step \"s%d\" { value = %d }\n", end+end))
	add("sequence", "", list(14000, flow+"sequence \"p\" {\n"+one, "step \"s%d\" { value = { a = previous.output } }\n", end+end))
	add("require", "", list(0, flow+"step \"a\" {\nvalue = 1\n", "require {\n  condition = \"run.id != '%d'\"\n  message = \"m\"\n}\n", end+end))
	add("outputs of calls", "", list(6000, "workflow \"c\" {\n"+one, "output \"o%d\" { value = step.a.output }\n", end)+
		list(6000, flow, "step \"z%d\" { call = workflow.c }\nstep \"y%d\" { value = step.z%d.output.o%d }\n", end))
	add("inputs of calls", "", list(6000, "workflow \"c\" {\n"+one, "input \"v%d\" { default = 1 }\n", end)+
		list(10000, flow, "step \"z%d\" { call = workflow.c }\n", end))
	add("inputs that are missing", "F0281", list(9000, "workflow \"c\" {\n"+one, "input \"v%d\" { type = number }\n", end)+
		list(10000, flow, "step \"z%d\" { call = workflow.c }\n", end))
	add("inputs that are unknown", "F0281", list(14000, "workflow \"c\" {\n"+one, "input \"v%d\" { default = 1 }\n", end)+
		list(14000, flow+"step \"z\" {\ncall = workflow.c\nwith = {\n", "w%d = 1\n", end+end+end))
	add("output type", "", list(10000, "agent \"g\" {\ntype = \"null\"\noutput = object({\n", "a%d = number\n", "})\n}\n")+
		list(7000, flow, "step \"s%d\" { agent = agent.g }\nstep \"t%d\" { value = step.s%d.output.a%d }\n", end))
	add("reads of one step", "", list(14000, flow, "step \"s%d\" { value = 1 }\n", "")+list(14000, "step \"z\" { value = [\n", "step.s%d.output,\n", "] }\n"+end))
	chained := func(n int, root, form string) string {
		return list(n, "locals {\n  a0 = "+root+"\n", "  b%d = "+form+"\n", "}\n")
	}
	add("merges of locals", "", func() string {
		var b strings.Builder
		b.WriteString("locals {\n  a0 = { x = 1 }\n")
		for i := range 15000 {
			fmt.Fprintf(&b, "  a%d = merge(local.a%d, { k%d = 1 })\n", i+1, i, i)
		}
		return b.String() + "}\n" + in("step \"a\" { value = local.a3000 }")
	}())
	add("merges of outputs", "", func() string {
		var b strings.Builder
		for i := range 12000 {
			fmt.Fprintf(&b, "step \"s%d\" { value = merge(step.s%d.output, { k%d = 1 }) }\n", i+1, i, i)
		}
		return in("step \"s0\" { value = { x = 1 } }\n" + b.String())
	}())
	wide := list(3000, "locals {\n  a = {\n", "k%d = 1\n", "  }\n}\n")
	long := list(20000, "locals {\n  a = [\n", "{ b = %d },\n", "  ]\n}\n")
	add("merges of one local", "", wide+list(14000, flow, "step \"s%d\" { value = merge(local.a, { x = run.id }) }\n", end))
	add("attributes that are unknown", "F0303", wide+list(14000, flow, "step \"s%d\" { value = local.a.l%d }\n", end))
	add("ranges", "F0312", chained(20000, "1", "range(200000)")+in(one))
	add("loops", "F0312", chained(20000, "1", "[for x in range(2000) : x]")+in(one))
	add("conditions over ranges", "", list(9000, flow, "step \"s%d\" {\nvalue = 1\nwhen = \"len(range(200000)) > 1\"\n}\n", end))
	add("conditions over a local", "", long+list(9000, flow+number, "step \"s%d\" {\nvalue = 1\nwhen = \"any(local.a, .b > input.n)\"\n}\n", end))
	add("loops over a local", "", long+list(9000, flow, "step \"s%d\" { value = [for v in local.a : \"${run.id}${v.b}\"] }\n", end))
	add("members of a local", "", long+list(12000, flow+number, "step \"s%d\" { value = local.a[input.n].b }\n", end))
	add("patterns", "F0312", list(0, flow, "step \"s%d\" { value = regex(\"(.a%d{900})b\", run.id) }\n", end))
	add("functions that are unknown", "F0308", list(50000, flow+"step \"a\" { value = [\n", "fun%d(1),\n", "] }\n"+end))
	return out
}
