package dsl

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/diag"
)

// mistake is what somebody writes who knows another tool, the words that lead to the right text, and that text.
type mistake struct {
	wrong string
	at    string // what the caret stands under; "" is not asked
	says  string // parts, separated by " … ", that the finding holds in this order
	right string // in place of wrong; "" where there is no one text, "-" where the line goes away
}

// The places of mistakes: @ stands for the mistake.
const (
	inStep     = "workflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n  step \"b\" {\n    run = [\"true\"]\n    @\n  }\n}\n"
	inBareStep = "workflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n  step \"b\" {\n    @\n  }\n}\n"
	inWorkflow = "workflow \"w\" {\n  @\n  step \"a\" { run = [\"true\"] }\n}\n"
	inFile     = "@\nworkflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n}\n"
	inAgent    = "agent \"x\" {\n  type = \"exec\"\n  @\n  timeout = \"5m\"\n}\nworkflow \"w\" {\n  step \"a\" { agent = agent.x }\n}\n"
	inScript   = "workflow \"w\" {\n  step \"a\" {\n    shell = \"bash\"\n    run   = <<-EOT\n      set -eu\n      @\n      echo done\n    EOT\n  }\n}\n"
	inValue    = "workflow \"w\" {\n  input \"x\" { type = string }\n  step \"a\" { run = [\"true\"] }\n  step \"b\" { value = @ }\n}\n"
	inEach     = "workflow \"w\" {\n  step \"a\" {\n    for_each = [\"x\", \"y\"]\n    @\n  }\n}\n"
	inWhen     = "workflow \"w\" {\n  input \"x\" { type = string }\n  step \"a\" { run = [\"true\"] }\n  step \"b\" {\n    run  = [\"true\"]\n    when = @\n  }\n}\n"
	inCommand  = "agent \"x\" {\n  type    = \"exec\"\n  command = [\"coder\"]\n  @\n  timeout = \"5m\"\n}\nworkflow \"w\" {\n  step \"a\" { agent = agent.x }\n}\n"
	inLoop     = "agent \"x\" { type = \"null\" }\nworkflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n}\nloop \"l\" {\n  agents = [agent.x]\n  source \"dispatch\" {}\n  handle { workflow = workflow.w }\n  @\n}\n"
	inMemory   = "memory {\n  @\n}\nworkflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n}\n"
	inInput    = "workflow \"w\" {\n  input \"level\" {\n    @\n  }\n  step \"a\" { run = [\"echo\", input.level] }\n}\n"
	inBreaker  = "agent \"x\" {\n  type = \"null\"\n  circuit_breaker {\n    @\n  }\n}\nworkflow \"w\" {\n  step \"a\" { agent = agent.x }\n}\n"
	inGate     = "gate \"g\" {\n  run      = [\"true\"]\n  findings = \"sarif\"\n  @\n}\nworkflow \"w\" {\n  step \"a\" {\n    run   = [\"true\"]\n    gates = [gate.g]\n  }\n}\n"
	inPool     = "agent \"x\" { type = \"null\" }\npool \"p\" {\n  members = [agent.x]\n  @\n}\nworkflow \"w\" {\n  step \"a\" { agent = pool.p }\n}\n"
	inCompete  = "agent \"x\" { type = \"null\" }\nworkflow \"w\" {\n  compete \"c\" {\n    agents  = [agent.x]\n    timeout = \"1m\"\n    @\n  }\n}\n"
	wholeFile  = "@"
)

// mistakes are what newcomers wrote in their first hour, by the place where they wrote it.
var mistakes = []struct {
	in   string
	list []mistake
}{
	{wholeFile, []mistake{
		{"agent \"x\" {\n  type = \"claude\"\n  timeout = \"5m\"\n}\nworkflow \"w\" {\n  step \"a\" { agent = agent.x }\n}\n", "\"claude\"", `preset = "claude" … command = ["claude", "-p"`, "agent \"x\" {\n  type = \"exec\"\n  command = [\"claude\", \"-p\", \"--output-format\", \"json\"]\n  timeout = \"5m\"\n}\nworkflow \"w\" {\n  step \"a\" { agent = agent.x }\n}\n"},
		{"agent \"x\" {\n  type = \"codex\"\n}\nworkflow \"w\" {\n  step \"a\" { agent = agent.x }\n}\n", "\"codex\"", `preset = "codex" … command = ["codex", "exec"`, "agent \"x\" {\n  preset = \"codex\"\n  timeout = \"5m\"\n}\nworkflow \"w\" {\n  step \"a\" { agent = agent.x }\n}\n"},
		{"agent \"x\" { type = \"null\" }\nworkflow \"w\" {\n  feedback \"f\" {\n    producer = agent.x\n    reviewer = agent.x\n    accept = \"true\"\n    until = \"review.output.ok\"\n  }\n}\n", "until", `accept = "review.output.ok"`, ""},
		{"agent \"x\" { type = \"null\" }\nagent \"y\" { type = \"null\" }\nworkflow \"w\" {\n  feedback \"f\" {\n    producer = agent.x\n    reviewer = agent.y\n    accept = \"review.ok\"\n  }\n}\n", "ok", `review.output.ok`, ""},
		{"workflow \"v\" {\n  step \"s\" { value = 1 }\n  output \"id\" { value = 1 }\n}\nworkflow \"w\" {\n  default = true\n  step \"a\" {\n    for_each = toset([\"x\"])\n    call     = workflow.v\n  }\n  output \"ids\" { value = step.a.output[*].id }\n}\n", "", "values(step.a.output)[*]", "workflow \"v\" {\n  step \"s\" { value = 1 }\n  output \"id\" { value = 1 }\n}\nworkflow \"w\" {\n  default = true\n  step \"a\" {\n    for_each = toset([\"x\"])\n    call     = workflow.v\n  }\n  output \"ids\" { value = values(step.a.output)[*].id }\n}\n"},
		{"name: CI\non: push\n", "name: CI", "This looks like YAML", ""},
		{"workflow \"w\" {\n  step \"a\" { run = [\"true\"]\n}\n", "", "closing brace", ""},
		{"workflow \"w\" {\n  step \"a\" { run = [\"true\"]\n  step \"b\" { run = [\"true\"] }\n}\n", "", "brace is missing at the end of the line … step \"a\" { run = [\"true\"] }", "workflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n  step \"b\" { run = [\"true\"] }\n}\n"},
		{"workflow \"w\" {\n  step \"a\" {\n    run = [\"true\"]\n  step \"b\" {\n    run = [\"true\"]\n  }\n}\n", "{", "indented as if the block had ended", ""},
		{"workflow \"w\" {\n  step \"a\" {\n    for_each = { go = [\"1.24\", \"1.25\"] }\n    run      = \"echo $V\"\n    env      = { V = each.value }\n  }\n}\n", "", "for_each = [\"1.24\", \"1.25\"]", "workflow \"w\" {\n  step \"a\" {\n    for_each = [\"1.24\", \"1.25\"]\n    run      = \"echo $V\"\n    env      = { V = each.value }\n  }\n}\n"},
		{"workflow \"w\" {\n  step \"a\" {\n    run = \"echo v=1 >> $GITHUB_OUTPUT\"\n  }\n  step \"b\" { value = step.a.output.v }\n}\n", "", "$FLOWRUN_OUTPUT", "workflow \"w\" {\n  step \"a\" {\n    run = \"echo v=1 >> $FLOWRUN_OUTPUT\"\n  }\n  step \"b\" { value = step.a.output.v }\n}\n"},
		{"workflow \"w\" {\n  step \"a\" {\n    for_each = [\"x\"]\n    run      = [\"true\"]\n  }\n  step \"b\" { value = step.a[\"0\"].output }\n}\n", "", "step.a.output[0]", "workflow \"w\" {\n  step \"a\" {\n    for_each = [\"x\"]\n    run      = [\"true\"]\n  }\n  step \"b\" { value = step.a.output[0] }\n}\n"},
		{"workflow \"w\" {\n  step \"a\" {\n    for_each = { x = 1 }\n    run      = [\"true\"]\n  }\n  step \"b\" { value = step.a[\"x\"].output }\n}\n", "", "step.a.output[\"x\"]", "workflow \"w\" {\n  step \"a\" {\n    for_each = { x = 1 }\n    run      = [\"true\"]\n  }\n  step \"b\" { value = step.a.output[\"x\"] }\n}\n"},
	}},
	{wholeFile, []mistake{
		{"workflow \"w\" {\n  step \"a\" {\n    run    = [\"true\"]\n    parse  = \"json\"\n    output = object({ ok = bool })\n  }\n  step \"b\" { value = step.a.ok }\n}\n", "ok", "step.a.output.ok", "workflow \"w\" {\n  step \"a\" {\n    run    = [\"true\"]\n    parse  = \"json\"\n    output = object({ ok = bool })\n  }\n  step \"b\" { value = step.a.output.ok }\n}\n"},
		{"workflow \"w\" {\n  sequence \"s\" {\n    repeat { max = 2 }\n    step \"a\" { run = [\"true\"] }\n    step \"b\" { value = last.a.output }\n  }\n}\n", "", "last.step.a.output", "workflow \"w\" {\n  sequence \"s\" {\n    repeat { max = 2 }\n    step \"a\" { run = [\"true\"] }\n    step \"b\" { value = last.step.a.output }\n  }\n}\n"},
		{"agent \"x\" {\n  type          = \"exec\"\n  command       = [\"true\"]\n  output_format = \"text\"\n  timeout       = \"5m\"\n}\nworkflow \"w\" {\n  step \"a\" {\n    agent  = agent.x\n    output = object({ ok = bool })\n  }\n}\n", "", "never an object … is a string … remove it", ""},
		{"workflow \"w\" {\n  parallel \"p\" {\n    join = \"all_done\"\n    step \"a\" { run = \"echo a\" }\n    step \"b\" { run = [\"false\"] }\n  }\n  step \"c\" { run = \"echo ${step.a.output}\" }\n}\n", "\"all_done\"", "done == total", ""},
		{"workflow \"w\" {\n  parallel \"p\" {\n    join = \"80%\"\n    step \"a\" { run = \"echo a\" }\n    step \"b\" { run = [\"false\"] }\n  }\n}\n", "\"80%\"", "100 * succeeded >= 80 * total", ""},
		{"workflow \"w\" {\n  step \"a\" {\n    run      = [\"false\"]\n    on_error = \"continue\"\n  }\n  step \"b\" { run = \"echo ${step.a.error}\" }\n}\n", "step.a.error", "try(step.a.error.message, \"\")", ""},
		{"workflow \"w\" {\n  step \"a\" {\n    approve { prompt = \"Go?\" }\n    timeout = \"1h\"\n  }\n}\n", "", "approve { timeout = … }", ""},
		{"workflow \"w\" {\n  input \"x\" { type = string }\n  step \"a\" { value = \"$x\" }\n}\n", "", "input.x … ${input.x}", ""},
		{"workflow \"w\" {\n  input \"x\" { type = string }\n  step \"a\" { run = [\"true\"] }\n  step \"b\" {\n    run  = [\"true\"]\n    when = \"$x == 'y'\"\n  }\n}\n", "$x", "Write  input.x.", "workflow \"w\" {\n  input \"x\" { type = string }\n  step \"a\" { run = [\"true\"] }\n  step \"b\" {\n    run  = [\"true\"]\n    when = \"input.x == 'y'\"\n  }\n}\n"},
		{"variable \"x\" { default = \"y\" }\nworkflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n  step \"b\" {\n    run  = [\"true\"]\n    when = \"$x == 'y'\"\n  }\n}\n", "$x", "Write  var.x.", "variable \"x\" { default = \"y\" }\nworkflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n  step \"b\" {\n    run  = [\"true\"]\n    when = \"var.x == 'y'\"\n  }\n}\n"},
		{"locals { x = \"y\" }\nworkflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n  step \"b\" {\n    run  = [\"true\"]\n    when = \"$x == 'y'\"\n  }\n}\n", "$x", "Write  local.x.", "locals { x = \"y\" }\nworkflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n  step \"b\" {\n    run  = [\"true\"]\n    when = \"local.x == 'y'\"\n  }\n}\n"},
	}},
	{inWorkflow, []mistake{
		{`name = "CI"`, "name", `description = "CI"`, `description = "CI"`},
		{`on = ["push"]`, "on", "flowrun apply … routine", "-"},
		{"job \"build\" {\n    step \"c\" { run = [\"true\"] }\n    step \"d\" { run = [\"true\"] }\n  }", "job", `sequence "build" {`, "sequence \"build\" {\n    step \"c\" { run = [\"true\"] }\n    step \"d\" { run = [\"true\"] }\n  }"},
		{"job \"build\" {\n    run = [\"true\"]\n  }", "job", `step "build" {`, "step \"build\" {\n    run = [\"true\"]\n  }"},
		{"job \"build\" {\n    steps {\n      step \"c\" { run = [\"true\"] }\n    }\n  }", "job", `sequence "build" {`, ""},
		{`activity "x" { run = ["true"] }`, "activity", `step "x" {`, `step "x" { run = ["true"] }`},
		{`signal "paid" {}`, "signal", "step \"paid\" … wait { event = \"paid\" }", "step \"paid\" {\n    wait { event = \"paid\" }\n  }"},
		{`timer "nap" { duration = "1s" }`, "timer", "step \"nap\" … wait { duration = \"1s\" }", "step \"nap\" {\n    wait { duration = \"1s\" }\n  }"},
		{`query "status" {}`, "query", "flowrun runs show", "-"},
		{`child_workflow "x" {}`, "child_workflow", "call = workflow.NAME", ""},
		{`human "ok" { prompt = "ship?" }`, "human", "step \"ok\" … approve { prompt = \"ship?\" }", "step \"ok\" {\n    approve { prompt = \"ship?\" }\n  }"},
		{`approve "ok" { prompt = "ship?" }`, "approve", "step \"ok\" … approve { prompt = \"ship?\" }", "step \"ok\" {\n    approve { prompt = \"ship?\" }\n  }"},
		{`run = "make"`, "run", `step "NAME" { run = "make" }`, `step "b" { run = "make" }`},
		{`finally { run = "make" }`, "run", `step "NAME" { run = "make" }`, "finally {\n    step \"b\" { run = \"make\" }\n  }"},
		{"parallel \"p\" {\n    max = 3\n    step \"c\" { run = [\"true\"] }\n  }", "max", `max_concurrency = 3`, "parallel \"p\" {\n    max_concurrency = 3\n    step \"c\" { run = [\"true\"] }\n  }"},
		{"jobs {\n    build = 1\n  }", "jobs", `step "NAME" { … }`, ""},
		{"steps {\n    run = [\"true\"]\n  }", "steps", `step "NAME" { … }`, ""},
		{`runs-on = "ubuntu-latest"`, "runs-on", "this machine", "-"},
		{"services {\n    image = \"postgres\"\n  }", "services", "this machine", "-"},
		{`loop "x" { until = "true" }`, "loop", "sequence \"x\" … repeat", ""},
		{"while \"x\" {\n    step \"c\" { run = [\"true\"] }\n  }", "while", "sequence \"x\" … repeat", ""},
		{`goto = step.a`, "goto", "repeat", "-"},
		{`environment = "prod"`, "environment", "no deployment environments … approve", "-"},
		{`environment = { A = "b" }`, "environment", `env = { A = "b" }`, `env = { A = "b" }`},
		{`permissions = "read"`, "permissions", "", "-"},
		{`concurrency = "x"`, "", `concurrency { group = "x" }`, `concurrency { group = "x" }`},
		{`secrets = ["TOKEN"]`, "secrets", `pass_env = ["TOKEN"] … sensitive = true`, `pass_env = ["TOKEN"]`},
		{`timeout-minutes = 10`, "timeout-minutes", `timeout = "10m"`, `timeout = "10m"`},
		{`timeout = 600`, "", `timeout = "600s"`, `timeout = "600s"`},
		{`timeout = 10m`, "", `timeout = "10m"`, `timeout = "10m"`},
		{`timeout = "10 minutes"`, "", `timeout = "10m"`, `timeout = "10m"`},
		{`timeout = "1 hour 30 min"`, "", `timeout = "1h30m"`, `timeout = "1h30m"`},
		{"stage \"x\" {\n    step \"c\" { run = [\"true\"] }\n  }", "stage", `sequence "x" {`, "sequence \"x\" {\n    step \"c\" { run = [\"true\"] }\n  }"},
		{`defaults = "x"`, "defaults", "A workflow sets shell, dir and env", `shell = "bash"`},
		{`data "x" {}`, "data", "", "-"},
		{`resource "null" "x" {}`, "resource", `step "x" {`, ""},
		{"dynamic \"step\" {\n    for_each = [1]\n  }", "dynamic", "for_each", "-"},
		{`version = 1`, "version", "leave it out", "-"},
	}},
	{inStep, []mistake{
		{`needs = ["a"]`, "needs", `depends_on = [step.a]`, `depends_on = [step.a]`},
		{`needs = [a, c]`, "needs", `depends_on = [step.a, step.c]`, ""},
		{`concurrency = "deploy"`, "concurrency", `concurrency { group = "deploy" }`, "-"},
		{"retry_policy {\n      maximum_attempts = 3\n    }", "retry_policy", `retry { max_attempts = 3 }`, `retry { max_attempts = 3 }`},
		{"retry {\n      maximum_attempts = 3\n    }", "maximum_attempts", `max_attempts = 3`, `retry { max_attempts = 3 }`},
		{"retry {\n      max_attempts = 3\n      backoff_coefficient = 2\n    }", "backoff_coefficient", `multiplier = 2`, ""},
		{"retry {\n      max_attempts = 3\n      maximum_interval = \"5s\"\n    }", "maximum_interval", `max_delay = "5s"`, ""},
		{`start_to_close_timeout = "10s"`, "start_to_close_timeout", `timeout = "10s"`, `timeout = "10s"`},
		{`schedule_to_close_timeout = "1m"`, "schedule_to_close_timeout", `deadline { after = "1m" }`, `deadline { after = "1m" }`},
		{`heartbeat_timeout = "3s"`, "heartbeat_timeout", `agent "NAME" { heartbeat = "3s" }`, "-"},
		{`task_queue = "gpu"`, "task_queue", "this machine", "-"},
		{`continue_as_new = true`, "continue_as_new", "leave it out", "-"},
		{`max_tokens = 1000`, "max_tokens", `budget { tokens = 1000 }`, `budget { tokens = 1000 }`},
		{`budget { usd = 2 }`, "usd", `cost_usd = 2`, `budget { cost_usd = 2 }`},
		{`needs = "a"`, "needs", `depends_on = [step.a]`, `depends_on = [step.a]`},
		{`needs = [a]`, "needs", `depends_on = [step.a]`, `depends_on = [step.a]`},
		{`deps = ["a"]`, "deps", `depends_on = [step.a]`, `depends_on = [step.a]`},
		{`depends_on = ["a"]`, "", `step.a, without quotes`, `depends_on = [step.a]`},
		{`depends_on = [a]`, "", `step.a`, `depends_on = [step.a]`},
		{`gates = ["coverage"]`, "", "gate.coverage, without quotes", ""},
		{`name = "Build it"`, "name", `step "NAME" {`, "-"},
		{`id = "build"`, "id", `step "build" {`, "-"},
		{`if = "input.x == 1"`, "if", `when = "input.x == 1"`, ""},
		{`if = "success()"`, "if", "leave the line out", "-"},
		{`if = "success() && input.x == 1"`, "if", `when = "input.x == 1"`, ""},
		{`if = "always()"`, "if", `trigger_rule = "all_done"`, `trigger_rule = "all_done"`},
		{`if = "failure()"`, "if", `step.NAME.status == 'failed'`, `when = "step.a.status == 'failed'"`},
		{`uses = "actions/checkout@v4"`, "uses", "no actions … run = … call = workflow.NAME", "-"},
		{`timeout-minutes = 10`, "timeout-minutes", `timeout = "10m"`, `timeout = "10m"`},
		{`timeout_minutes = 10`, "timeout_minutes", `timeout = "10m"`, `timeout = "10m"`},
		{`timeout_seconds = 90`, "timeout_seconds", `timeout = "90s"`, `timeout = "90s"`},
		{`timeoutSeconds = 90`, "timeoutSeconds", `timeout = "90s"`, `timeout = "90s"`},
		{`timeout = "10 minutes"`, "", `timeout = "10m"`, `timeout = "10m"`},
		{`matrix = ["1.24", "1.25"]`, "matrix", `for_each = ["1.24", "1.25"] … each.value`, `for_each = ["1.24", "1.25"]`},
		{`matrix = { go = ["1.24", "1.25"] }`, "matrix", `for_each = ["1.24", "1.25"] … each.value`, `for_each = ["1.24", "1.25"]`},
		{`matrix = { go = ["1.24", "1.25"], os = ["linux", "mac"] }`, "matrix", `for_each = setproduct(["1.24", "1.25"], ["linux", "mac"]) … each.value[0] … go … each.value[1] … os`, `for_each = setproduct(["1.24", "1.25"], ["linux", "mac"])`},
		{"strategy {\n      matrix = { go = [\"1.24\", \"1.25\"] }\n    }", "strategy", `for_each = ["1.24", "1.25"] … each.value`, `for_each = ["1.24", "1.25"]`},
		{"strategy {\n      matrix {\n        go = [\"1.24\"]\n        os = [\"linux\", \"mac\"]\n      }\n    }", "strategy", `for_each = setproduct(["1.24"], ["linux", "mac"]) … each.value[0]`, `for_each = setproduct(["1.24"], ["linux", "mac"])`},
		{`count = 3`, "count", `for_each = range(3) … each.value`, `for_each = range(3)`},
		{`retry = 3`, "", `retry { max_attempts = 3 }`, `retry { max_attempts = 3 }`},
		{`retries = 3`, "retries", `retry { max_attempts = 3 }`, `retry { max_attempts = 3 }`},
		{`retry { max = 3 }`, "max", `max_attempts = 3`, `retry { max_attempts = 3 }`},
		{`retry { limit = 3 }`, "limit", `max_attempts = 3`, `retry { max_attempts = 3 }`},
		{"retry {\n      max_attempts = 3\n      delay = 5\n    }", "delay", `base_delay = "5s"`, "retry {\n      max_attempts = 3\n      base_delay = \"5s\"\n    }"},
		{"retry {\n      max_attempts = 3\n      backoff = 2\n    }", "backoff", `multiplier = 2`, "retry {\n      max_attempts = 3\n      multiplier = 2\n    }"},
		{`continue-on-error = true`, "continue-on-error", `on_error = "continue"`, `on_error = "continue"`},
		{`allow_failure = true`, "allow_failure", `on_error = "continue"`, `on_error = "continue"`},
		{`working-directory = "web"`, "working-directory", `dir = "web"`, `dir = "web"`},
		{`cwd = "web"`, "cwd", `dir = "web"`, `dir = "web"`},
		{`environment = "prod"`, "environment", "no deployment environments … approve", "-"},
		{`environment = { A = "b" }`, "environment", `env = { A = "b" }`, `env = { A = "b" }`},
		{`on_failure = "continue"`, "on_failure", `on_error = "continue"`, `on_error = "continue"`},
		{"on_failure {\n      run = [\"undo\"]\n    }", "on_failure", `compensate { run = ["undo"] } … step.b.status == 'failed'`, `compensate { run = ["undo"] }`},
		{"on_error {\n      run = [\"undo\"]\n    }", "on_error", `compensate { run = ["undo"] } … step.b.status == 'failed'`, `compensate { run = ["undo"] }`},
		{`compensate = "undo"`, "compensate", `compensate { run = "undo" }`, `compensate { run = "undo" }`},
		{`rollback = "undo"`, "rollback", `compensate { run = "undo" }`, `compensate { run = "undo" }`},
		{`runs-on = "ubuntu-latest"`, "runs-on", "this machine", "-"},
		{`container = "golang:1.25"`, "container", `run = ["docker", "run", "--rm", "golang:1.25"`, "-"},
		{`image = "golang:1.25"`, "image", `run = ["docker", "run", "--rm", "golang:1.25"`, "-"},
		{`services = ["postgres"]`, "services", "this machine", "-"},
		{`cache = ["node_modules"]`, "cache", "this machine … files stay", "-"},
		{`artifacts = ["dist"]`, "artifacts", "files stay", "-"},
		{`secrets = ["TOKEN"]`, "secrets", `pass_env = ["TOKEN"] … sensitive = true`, `pass_env = ["TOKEN"]`},
		{"while = \"step.a.status == 'succeeded'\"", "while", "repeat … max = … until = \"!(step.a.status == 'succeeded')\"", "repeat {\n      max   = 3\n      until = \"!(step.a.status == 'succeeded')\"\n    }"},
		{`until = "result.exit_code == 0"`, "until", "repeat … max = … until = \"result.exit_code == 0\"", "repeat {\n      max   = 3\n      until = \"result.exit_code == 0\"\n    }"},
		{`times = 3`, "times", `repeat { max = 3 }`, `repeat { max = 3 }`},
		{`loop = ["x", "y"]`, "loop", `for_each = ["x", "y"] … each.value`, `for_each = ["x", "y"]`},
		{"loop {\n      max = 3\n    }", "loop", `repeat { max = 3 }`, `repeat { max = 3 }`},
		{`with_items = ["x", "y"]`, "with_items", `for_each = ["x", "y"] … each.value`, `for_each = ["x", "y"]`},
		{`goto = "a"`, "goto", "repeat", "-"},
		{"lifecycle {\n      prevent_destroy = true\n    }", "lifecycle", "no state", "-"},
		{`provider = "aws"`, "provider", "no providers", "-"},
		{`provisioner "local-exec" { command = "x" }`, "provisioner", "run = ", "-"},
		{`tags = ["x"]`, "tags", "no tags … description", "-"},
		{`cache = true`, "cache", "this machine … files stay", "-"},
		{`interpreter = "bash"`, "", `shell = "bash"`, `shell = "bash"`},
		{`shell = "zsh"`, "", "\"bash\" … run = [\"zsh\", \"-c\"", `shell = "bash"`},
		{`timeout = "5 m"`, "", `timeout = "5m"`, `timeout = "5m"`},
		{`when = step.a.status == "success"`, "", `Write it as "step.a.status == 'success'"`, ""},
		{`when = "step.a.status == 'success'"`, "", `'succeeded'`, `when = "step.a.status != 'skipped'"`},
		{`when = "${step.a.exit_code} == 0"`, "", `step.a.exit_code`, `when = "step.a.exit_code == 0"`},
		{`when = "step.a.exit_code = 0"`, "", `==`, `when = "step.a.exit_code == 0"`},
		{`for_each = ["x"]` + "\n    env      = { V = item }", "item", "The member of a for_each is  each.value … item", "for_each = [\"x\"]\n    env      = { V = each.value }"},
	}},
	{inBareStep, []mistake{
		{`run: make`, "", "run = \"make\"", `run = "make"`},
		{`script = "make"`, "script", `run = "make"`, `run = "make"`},
		{`command = "make"`, "command", `run = "make"`, `run = "make"`},
		{`command = ["make", "x"]`, "command", `run = ["make", "x"]`, `run = ["make", "x"]`},
		{`cmds = ["make", "make test"]`, "cmds", `run = "make && make test"`, `run = "make && make test"`},
		{`run = ["make build", "make test"]`, "", "", ""},
		{`prompt = "do it"`, "prompt", `task = "do it"`, ""},
		{`uses = "actions/checkout@v4"`, "uses", "no actions … run = … call = workflow.NAME", `run = "git pull"`},
		{`run = "make VERSION=${var.v}"` + "\n    env = {}", "", "", ""},
		{`workflow = workflow.x`, "", "call = workflow.x", ""},
		{`wait { for = "1s" }`, "for", `duration = "1s"`, `wait { duration = "1s" }`},
		{`wait { seconds = 5 }`, "seconds", `duration = "5s"`, `wait { duration = "5s" }`},
		{`wait { signal = "paid" }`, "signal", `event = "paid"`, `wait { event = "paid" }`},
		{`module = "x"`, "module", "call = workflow.NAME", ""},
		{`sleep = 5`, "sleep", `wait { duration = "5s" }`, `wait { duration = "5s" }`},
		{`model = "opus"`, "model", "command … --model", ""},
		{`type = "claude"`, "type", "agent", ""},
	}},
	{"workflow \"w\" {\n  step \"count\" { run = [\"true\"] }\n  step \"b\" {\n    for_each = [\"x\", \"y\"]\n    @\n  }\n}\n", []mistake{
		{`run = "echo ${count.index}"`, "count", "each.key", `run = "echo ${each.key}"`},
		{`run = "echo ${count}"`, "count", "step.count", ""},
	}},
	{inStep, []mistake{
		{`when = "${step.a.status == 'failed'}"`, "", `no ${} … when = "step.a.status == 'failed'"`, `when = "step.a.status == 'failed'"`},
		{`shell = "bash -e"`, "", `run = ["bash", "-e", "-c", "…"]`, ""},
		{`idempotency_key = "x"`, "idempotency_key", "$FLOWRUN_IDEMPOTENCY_KEY", ""},
		{`retry { non_retryable_errors = ["E"] }`, "non_retryable_errors", `when = "error.exit_code != 2"`, `retry { when = "error.exit_code != 2" }`},
	}},
	{"workflow \"w\" {\n  @\n  step \"b\" { value = step.x.output }\n  step \"c\" {\n    run = [\"true\"]\n    when = \"step.x.output == 'y'\"\n    depends_on = [step.x]\n  }\n}\n", []mistake{
		{`activity "x" { run = ["true"] }`, "activity", `step "x"`, `step "x" { run = ["true"] }`}, // and nothing is said of step.x
	}},
	{"workflow \"w\" {\n  input \"env\" { type = string }\n  step \"b\" {\n    run = [\"true\"]\n    env = @\n  }\n}\n", []mistake{
		{`{ R = env.GITHUB_REF }`, "env", "$GITHUB_REF … FLOWRUN_VAR_GITHUB_REF", ""},
		{`{ R = env.name }`, "env", "Did you mean input.env?", ""},
		{`{ R = env }`, "env", "Did you mean input.env?", `{ R = input.env }`},
	}},
	{inBareStep, []mistake{
		{`wait_for_signal = "paid"`, "wait_for_signal", `wait { event = "paid" }`, `wait { event = "paid" }`},
	}},
	{inWorkflow, []mistake{
		{`cron_schedule = "0 3 * * *"`, "cron_schedule", `routine "NAME" … cron = "0 3 * * *" … workflow.w`, ""},
		{`cron = "0 3 * * *"`, "cron", `routine "NAME" … cron = "0 3 * * *" … workflow.w`, ""},
	}},
	{inEach, []mistake{
		{`run = "echo ${each}"`, "each", "each.value", `run = "echo ${each.value}"`},
		{`run = "echo ${matrix.go}"`, "matrix", "each.value", `run = "echo ${each.value}"`},
		{`run = "echo ${{ matrix.go }}"`, "${{ matrix.go }}", "${each.value}", `run = "echo ${each.value}"`},
		{`run = "echo ${item}"`, "item", "each.value", `run = "echo ${each.value}"`},
		{`run = "echo ${count.index}"`, "count", "each.key", `run = "echo ${each.key}"`},
		{`run = "echo ${strategy.job-index}"`, "strategy", "each.key", `run = "echo ${each.key}"`},
		{`run = "echo ${self.value}"`, "self", "each.value", `run = "echo ${each.value}"`},
	}},
	{inValue, []mistake{
		{`secrets.TOKEN`, "secrets", `variable "TOKEN" … sensitive = true … var.TOKEN … pass_env = ["TOKEN"]`, ""},
		{`"${{ secrets.TOKEN }}"`, "${{ secrets.TOKEN }}", `variable "TOKEN" … var.TOKEN`, ""},
		{`github.ref`, "github", `input "ref" … input.ref … $GITHUB_REF`, ""},
		{`"${{ github.sha }}"`, "${{ github.sha }}", `input "sha" … input.sha`, ""},
		{`env.HOME`, "env", `$HOME … variable "HOME"`, ""},
		{`"${{ env.HOME }}"`, "${{ env.HOME }}", `$HOME`, ""},
		{`needs.a.outputs.v`, "needs", `step.a.output.v`, ""},
		{`needs.a.result`, "needs", `step.a.status`, `step.a.status`},
		{`steps.a.outputs.v`, "steps", `step.a.output.v`, ""},
		{`jobs.a.outputs.v`, "jobs", `step.a.output.v`, ""},
		{`inputs.x`, "inputs", `input.x`, `input.x`},
		{`vars.x`, "vars", `var.x`, ``},
		{`locals.x`, "locals", `local.x`, ``},
		{`matrix.go`, "matrix", "for_each … each.value", ""},
		{`runner.os`, "runner", "this machine", ""},
		{`path.module`, "path", "folder", ""},
		{`terraform.workspace`, "terraform", "", ""},
		{`module.x.out`, "module", "step.NAME.output", ""},
		{`data.x.y`, "data", "step", ""},
		{`count.index`, "count", "for_each … each.key", ""},
		{`params.x`, "params", "input.x", `input.x`},
		{`outputs.a.v`, "outputs", "step.a.output.v", ""},
		{`a.output`, "a", "step.a", `step.a.output`},
		{`step.a.outputs`, "outputs", `"output"`, `step.a.output`},
		{`step.a.outcome`, "outcome", `"status"`, `step.a.status`},
		{`step.a.conclusion`, "conclusion", `"status"`, `step.a.status`},
		{`step.a.result`, "result", `"output" … "status"`, `step.a.output`},
		{`step.a.code`, "code", `exit_code`, `step.a.exit_code`},
		{`getenv("HOME")`, "getenv", "variable", ""},
		{`env("HOME")`, "env", "variable", ""},
		{`templatefile("x", {})`, "templatefile", "heredoc", ""},
		{`yamldecode("x")`, "", "", `yamldecode("x")`},
		{`toJson(input.x)`, "toJson", "toJSON", `toJSON(input.x)`},
		{`fromJSON("{}")`, "", "", `fromJSON("{}")`},
		{`hashFiles("x")`, "hashFiles", "file", ""},
		{`{ A: 1 }`, "", "", `{ A = 1 }`},
	}},
	{inWhen, []mistake{
		{`"always()"`, "always", `trigger_rule = "all_done"`, ""},
		{`"failure()"`, "failure", `step.NAME.status == 'failed'`, `"step.a.status == 'failed'"`},
		{`"success()"`, "success", "unless", ""},
		{`"step.a.outcome == 'failure'"`, "outcome", `"status"`, `"step.a.status == 'failed'"`},
		{`"github.ref == 'refs/heads/main'"`, "github", `input "ref"`, `"input.x == 'refs/heads/main'"`},
		{`"env.CI == 'true'"`, "env", `variable "CI"`, ""},
		{`"inputs.x == 'a'"`, "inputs", `input.x`, `"input.x == 'a'"`},
		{`"needs.a.result == 'success'"`, "needs", "step.a.status", `"step.a.status == 'succeeded'"`},
		{`"$X == 'a'"`, "", `environment … variable "X" … var.X`, ""},
		{`"${{ inputs.x == 'a' }}"`, "", `input.x`, `"input.x == 'a'"`},
	}},
	{inFile, []mistake{
		{`name = "CI"`, "name", `workflow "CI"`, "-"},
		{`on = ["push"]`, "on", "flowrun apply … routine", "-"},
		{`env = { A = "b" }`, "env", `workflow "NAME"`, "-"},
		{"terraform {\n  required_version = \">= 1\"\n}", "terraform", "flowrun {", "-"},
		{"variable \"n\" { type = \"string\" }", "", "string", ""},
		{"output \"x\" { value = 1 }", "output", "workflow", "-"},
		{"module \"x\" {\n  source = \"./x\"\n}", "module", "call = workflow.NAME", "-"},
		{"data \"http\" \"x\" {\n  url = \"https://x.y\"\n}", "data", "step \"x\" … http", "-"},
		{"provider \"aws\" {\n  region = \"x\"\n}", "provider", "no providers", "-"},
		{"resource \"null\" \"x\" {}", "resource", `step "x" {`, "-"},
		{"variable \"n\" {\n  type     = string\n  nullable = false\n}", "nullable", "default = null", ""},
		{"secret \"x\" {}", "secret", "variable \"x\" … sensitive = true", "-"},
		{"job \"build\" {\n  step \"c\" { run = [\"true\"] }\n}", "job", `workflow "build" {`, "-"},
		{"step \"build\" {\n  run = [\"true\"]\n}", "step", "put it into  workflow \"NAME\" { … }", "-"},
		{"local \"x\" { a = 1 }", "local", "locals", "-"},
		{"import {\n  path = \"x\"\n}", "import", "folder", "-"},
		{"include {\n  path = \"x\"\n}", "include", "folder", "-"},
		{"schedule \"x\" { cron = \"0 0 * * *\" }", "schedule", "routine \"x\" { … cron = \"0 0 * * *\"", "-"},
		{"cron \"x\" {}", "cron", "routine \"x\" {", "-"},
	}},
	{inAgent, []mistake{
		{"command = [\"claude\", \"-p\"]\n  tools = [\"bash\"]", "tools", `The program of the agent`, "command = [\"claude\", \"-p\"]"},
		{"command = [\"claude\", \"-p\"]\n  temperature = 0.2", "temperature", `The program of the agent`, "command = [\"claude\", \"-p\"]"},
		{`command = "claude -p"`, "", `command = ["claude", "-p"]`, `command = ["claude", "-p"]`},
		{`command = "claude --model 'a b' -p"`, "", `command = ["claude", "--model", "a b", "-p"]`, `command = ["claude", "--model", "a b", "-p"]`},
		{"command = [\"claude\", \"-p\"]\n  model = \"opus\"", "model", `command = ["claude", "-p", "--model", "opus"]`, `command = ["claude", "-p", "--model", "opus"]`},
		{"command = [\"claude\", \"-p\"]\n  prompt = \"Be kind.\"", "prompt", `soul = "Be kind."`, "command = [\"claude\", \"-p\"]\n  soul = \"Be kind.\""},
		{"command = [\"claude\", \"-p\"]\n  system_prompt = \"Be kind.\"", "system_prompt", `soul = "Be kind."`, "command = [\"claude\", \"-p\"]\n  soul = \"Be kind.\""},
		{"command = [\"claude\", \"-p\"]\n  instructions = \"Be kind.\"", "instructions", `soul = "Be kind."`, "command = [\"claude\", \"-p\"]\n  soul = \"Be kind.\""},
		{`run = "claude -p"`, "", `command = ["claude", "-p"]`, `command = ["claude", "-p"]`},
	}},
	{inScript, []mistake{
		{`echo ${f%.txt}`, "${f%.txt}", `$${f%.txt}`, `f=a.txt; echo $${f%.txt}`},
		{`echo ${f##*/}`, "${f##*/}", `$${f##*/}`, `f=a.txt; echo $${f##*/}`},
		{`a=(1 2); echo ${#a[@]}`, "${#a[@]}", `$${#a[@]}`, `a=(1 2); echo $${#a[@]}`},
		{`echo "${#V}"`, "${#V}", `$${#V}`, `V=a; echo "$${#V}"`},
		{`echo ${V,,}`, "${V,,}", `$${V,,}`, `V=a; echo $${V,,}`},
		{`echo ${V^^}`, "${V^^}", `$${V^^}`, `V=a; echo $${V^^}`},
		{`echo ${V//a/b}`, "${V//a/b}", `$${V//a/b}`, `V=a; echo $${V//a/b}`},
		{`echo ${V/a/b}`, "${V/a/b}", `$${V/a/b}`, `V=a; echo $${V/a/b}`},
		{`echo ${!v}`, "${!v}", `$${!v}`, `V=a; v=V; echo $${!v}`},
		{`echo ${a[@]}`, "${a[@]}", `$${a[@]}`, `a=(1 2); echo $${a[@]}`},
		{`echo ${a[0]}`, "", `$${a[0]}`, `a=(1 2); echo $${a[0]}`},
		{`echo ${V:0:3}`, "${V:0:3}", `$${V:0:3}`, `V=abc; echo $${V:0:3}`},
		{`echo ${HOME:-x}`, "${HOME:-x}", `$${HOME:-x}`, `echo $${HOME:-x}`},
		{`echo ${HOME:?missing}`, "${HOME:?missing}", `$${HOME:?missing}`, `echo $${HOME:?missing}`},
		{`echo ${1}`, "${1}", `$1`, `echo $1`},
		{`echo ${@}`, "${@}", `$${@}`, `echo $${@}`},
		{`echo ${?}`, "${?}", `$${?}`, `echo $${?}`},
		{`echo ${HOME}`, "${HOME}", `$HOME`, `echo $HOME`},
		{`curl -w "%{http_code}" localhost`, "%{http_code}", `%%{http_code}`, `curl -w "%%{http_code}" localhost`},
		{`date +%{s}`, "%{s}", `%%{s}`, `date +%%{s}`},
		{`echo ${{ github.sha }}`, "${{ github.sha }}", `input "sha"`, ""},
		{`echo "${V%/*}" > "${W#x}"`, "${V%/*}", `$${V%/*}`, `V=a; W=b; echo "$${V%/*}" > "$${W#x}"`},
		{`echo ${V@Q}`, "${V@Q}", `$${V@Q}`, `V=a; echo $${V@Q}`},
	}},
	{inInput, []mistake{
		{"type = choice", "choice", "type = string … enum = [\"a\", \"b\"]", "type = string\n    enum = [\"a\", \"b\"]"},
		{"type = \"enum\"", "", "type = string … enum = [\"a\", \"b\"]", "type = string\n    enum = [\"a\", \"b\"]"},
		{"type = password", "password", "type = string … sensitive = true", ""},
		{"type = string\n    options = [\"a\", \"b\"]", "options", `enum = ["a", "b"]`, "type = string\n    enum = [\"a\", \"b\"]"},
	}},
	{inBreaker, []mistake{
		{`reset_timeout = "5m"`, "reset_timeout", `reset = "5m"`, `reset = "5m"`},
		{`reset_timeout = 30`, "reset_timeout", `reset = "30s"`, `reset = "30s"`},
		{`failure_threshold = 3`, "failure_threshold", "failures = 3", "failures = 3"},
	}},
	{inGate, []mistake{
		{`severity = "high"`, "severity", `block = "high"`, `block = "high"`},
		{`on = "failure"`, "on", "leave it out … on_fail", ""},
	}},
	{inPool, []mistake{
		{`strategy = "least_connections"`, `"least_connections"`, `strategy = "least_busy"`, `strategy = "least_busy"`},
		{`strategy = "least_active"`, `"least_active"`, `strategy = "least_busy"`, `strategy = "least_busy"`},
	}},
	{inCompete, []mistake{{`on_timeout = "submit_current_result"`, "on_timeout", "hands in its work so far", "-"}}},
	{inStep, []mistake{
		{`requires = ["gpu"]`, "requires", `depends_on = [step.gpu] … capabilities = ["gpu"]`, ""},
		{`max_duration = "5m"`, "max_duration", `timeout = "5m"`, `timeout = "5m"`},
		{`on_unavailable { output = 1 }`, "on_unavailable", `degrade { output = 1 }`, `degrade { output = 1 }`},
		{`default_response = "x"`, "default_response", `degrade { output = "x" }`, `degrade { output = "x" }`},
		{"degrade {\n      output   = 1\n      degraded = true\n    }", "degraded", "by itself", "degrade { output = 1 }"},
		{`progress { at = [25] }`, "progress", "deadline … progress = [25, 50, 75]", "deadline {\n      after    = \"1h\"\n      progress = [25]\n    }"},
		{`dlq = true`, "dlq", "flowrun dlq list", "-"},
		{`dead_letter { after = 3 }`, "dead_letter", "flowrun dlq list", "-"},
		{`on_rate_limit { until = "x" }`, "on_rate_limit", "waits by itself", "-"},
	}},
	{inBareStep, []mistake{{`publish { channel = "x" }`, "publish", `emit { event = "NAME" }`, `emit { event = "x" }`}}},
	{inInput, []mistake{{"type = string\n    trust = \"untrusted\"", "trust", "gates = [gate.NAME] … injection", ""}}},
	{inFile, []mistake{
		{"worker \"x\" { command = [\"x\"] }", "worker", `agent "x" {`, ""},
		{"breaker \"svc\" { reset = \"5m\" }", "breaker", `quota "svc" { … }  with  circuit_breaker`, "quota \"svc\" {\n  circuit_breaker {\n    failures = 5\n    reset    = \"30s\"\n  }\n}"},
		{"gate \"g\" {\n  security { scan = [\"sqli\"] }\n}", "[\"sqli\"]", `findings = "sarif"`, ""},
	}},
	{inLoop, []mistake{
		{`interval = "5m"`, "interval", `idle = "5m"`, `idle = "5m"`},
		{`every = "5m"`, "every", `idle = "5m"`, `idle = "5m"`},
		{`sources = ["dispatch"]`, "sources", `source "dispatch" {}`, "-"},
		{`workflow = workflow.w`, "workflow", "handle { workflow = workflow.NAME }", "-"},
		{`on_item { call = workflow.w }`, "on_item", "handle { workflow = workflow.NAME } … item.title", "-"},
		{`source "github" { repo = "me/x" }`, `"github"`, `source "backlog" … from = "github" … repo = "me/x"`, "source \"backlog\" {\n    from = \"github\"\n    repo = \"me/x\"\n  }"},
		{`source "file" { path = "x.md" }`, `"file"`, `source "backlog" … from = "file" … path = "x.md"`, "source \"backlog\" {\n    from = \"file\"\n    path = \"x.md\"\n  }"},
		{`source "jira" {}`, `"jira"`, `source "backlog" … from = "exec" … command = ["PROGRAM"]`, "source \"backlog\" {\n    from = \"exec\"\n    command = [\"PROGRAM\"]\n  }"},
		{`source "api" { url = "http://127.0.0.1/x" }`, `"api"`, `source "backlog" … from = "http" … url = "http://127.0.0.1/x"`, "source \"backlog\" {\n    from = \"http\"\n    url = \"http://127.0.0.1/x\"\n  }"},
	}},
	{inMemory, []mistake{
		{`enabled = true`, "enabled", "leave it out", "-"},
		{`path = "m.db"`, "path", `store = "FOLDER"`, `store = "shared"`},
	}},
	{wholeFile, []mistake{
		{"agent \"a\" { type = \"null\" }\nloop \"l\" {\n  agents = [\"a\"]\n  source \"dispatch\" {}\n  handle { workflow = workflow.w }\n}\nworkflow \"w\" {\n  step \"s\" { run = [\"true\"] }\n}\n", "\"a\"", "Write agent.a, without quotes", ""},
		{"on \"schedule\" { cron = \"0 5 * * *\" }\nworkflow \"w\" {\n  step \"s\" { run = [\"true\"] }\n}\n", "cron", "routine \"schedule\" … cron = \"0 5 * * *\"", ""},
		{"routine \"n\" {\n  schedule = \"0 5 * * *\"\n  timezone = \"UTC\"\n  workflow = workflow.w\n}\nworkflow \"w\" {\n  step \"s\" { run = [\"true\"] }\n}\n", "schedule", "cron = \"0 5 * * *\"", "routine \"n\" {\n  cron = \"0 5 * * *\"\n  timezone = \"UTC\"\n  workflow = workflow.w\n}\nworkflow \"w\" {\n  step \"s\" { run = [\"true\"] }\n}\n"},
		{"workflow \"w\" {\n  step \"a\" {\n    for_each = { os = [\"linux\", \"mac\"], go = [\"1.24\", \"1.25\"] }\n    run      = \"echo ${each.value.os}\"\n  }\n}\n", "os", "for_each = setproduct([\"linux\", \"mac\"], [\"1.24\", \"1.25\"]) … each.value[0]  is os", "workflow \"w\" {\n  step \"a\" {\n    for_each = setproduct([\"linux\", \"mac\"], [\"1.24\", \"1.25\"])\n    run      = \"echo ${each.value[0]}\"\n  }\n}\n"},
		{"workflow \"w\" {\n  step \"a\" {\n    for_each = { include = [{ os = \"linux\" }] }\n    run      = \"echo ${each.value.os}\"\n  }\n}\n", "os", "for_each = [{ os = \"linux\" }]", "workflow \"w\" {\n  step \"a\" {\n    for_each = [{ os = \"linux\" }]\n    run      = \"echo ${each.value.os}\"\n  }\n}\n"},
	}},
	{inWorkflow, []mistake{
		{"concurrency {\n    group = \"x\"\n    cancel_in_progress = true\n  }", "cancel_in_progress", `when_busy = "cancel_previous"`, "concurrency {\n    group     = \"x\"\n    when_busy = \"cancel_previous\"\n  }"},
		{"concurrency {\n    group = \"x\"\n    cancel-in-progress = false\n  }", "cancel-in-progress", "leave it out", "concurrency { group = \"x\" }"},
		{`secret "TOKEN" {}`, "secret", `pass_env = ["TOKEN"]`, `pass_env = ["TOKEN"]`},
		{`deadline = "5m"`, "deadline", `timeout = "5m"`, `timeout = "5m"`},
	}},
	{inStep, []mistake{
		{`fail_fast = false`, "fail_fast", "the others continue, so leave it out", "-"},
		{`fail-fast = true`, "fail-fast", `on_error = "stop"`, `on_error = "stop"`},
		{`env = ["A=b", "C=d"]`, `["A=b", "C=d"]`, `env = { A = "b", C = "d" }`, `env = { A = "b", C = "d" }`},
		{`env = ["TOKEN"]`, `["TOKEN"]`, `pass_env = ["TOKEN"]`, `pass_env = ["TOKEN"]`},
		{`triggers = { a = 1 }`, "triggers", "leave it out", "-"},
		{`precondition { condition = "true" }`, "precondition", "require { condition = ", `require { condition = "1 < 2" }`},
		{`postcondition { condition = "true" }`, "postcondition", `gate "NAME" { check = "CONDITION" } … result.output`, `gate "g" { check = "result.output == ''" }`},
		{"gate \"g\" { check = \"output.ok\" }", "output", "result.output.ok", ""},
		{"gate \"g\" { check = \"result.ok\" }", "ok", "result.output.ok", ""},
		{"count = input.x == \"a\" ? 1 : 0", "count", `when = "input.x == 'a'"`, ""},
		{"count = local.x == \"a\" ? 0 : 1", "count", `when = "!(local.x == 'a')"`, ""},
		{`repeat = 3`, "repeat", "repeat { max = 3 }", `repeat { max = 3 }`},
		{"repeat {\n      max = 3\n      until = \"output == 'ok'\"\n    }", "output", "result.output", "repeat {\n      max   = 3\n      until = \"result.output == 'ok'\"\n    }"},
		{"repeat {\n      max = 3\n      until = \"step.b.output == 'ok'\"\n    }", "", "the until of a repeat, read its result as result", "repeat {\n      max   = 3\n      until = \"result.output == 'ok'\"\n    }"},
		{`memory { key = "x" }`, "memory", "remember { text … recall { query", ""},
	}},
	{inBareStep, []mistake{
		{`local-exec { command = "make" }`, "local-exec", `run = "make"`, `run = "make"`},
		{`approve { message = "ok?" }`, "message", `prompt = "ok?"`, `approve { prompt = "ok?" }`},
		{"approve {\n      prompt = \"ok?\"\n      from   = \"ann\"\n    }", "from", `approvers = ["ann"]`, "approve {\n      prompt    = \"ok?\"\n      approvers = [\"ann\"]\n    }"},
		{`notify { message = "x" }`, "message", `text = "x"`, ""},
		{`slack { channel = "#x" }`, "slack", "notify … to = [channel.NAME] … channel \"NAME\" { … }", ""},
		{"http {\n      url  = \"http://127.0.0.1/x\"\n      json = { a = 1 }\n    }", "json", "body = { a = 1 }", "http {\n      url  = \"http://127.0.0.1/x\"\n      body = { a = 1 }\n    }"},
		{"run = |", "", "heredoc:  run = <<-EOT", "run = <<-EOT\n      make\n    EOT"},
		{`run = "tr "\0" x"`, "", `ends at the quote before this … \"`, `run = "tr \"x\" x"`},
	}},
	{inEach, []mistake{
		{`run = "echo ${each.value.name}"`, "name", "each.value is the member itself", `run = "echo ${each.value}"`},
	}},
	{inValue, []mistake{
		{`file("${path.module}/mistakes.md")`, "", `file("mistakes.md")`, ""},
		{`self.id`, "self", "result.output … step.NAME.output", "step.a.output"},
		{`nonsensitive(input.x)`, "nonsensitive", "stays sensitive", "input.x"},
		{`isNull(input.x)`, "isNull", "x == null", "input.x == null"},
	}},
	{inWhen, []mistake{
		{`"startsWith(input.x, 'v')"`, "startsWith", "x startsWith 'text'", `"input.x startsWith 'v'"`},
		{`"contains(input.x, 'v')"`, "", "x contains 'part'", `"input.x contains 'v'"`},
		{`"input.x =~ '^v'"`, "=", "x matches '^v", `"input.x matches '^v'"`},
		{`"step.a.succeeded"`, "succeeded", "status", `"step.a.status == 'succeeded'"`},
		{`"step.a"`, "step.a", "step.a.status == 'succeeded'", `"step.a.status == 'succeeded'"`},
	}},
	{inCommand, []mistake{
		{`args = ["-p"]`, "args", `command = ["coder", "-p"]`, "-"},
		{`sandbox = true`, "sandbox", `command = ["PROGRAM", "FLAG", "VALUE"]`, "-"},
		{`max_turns = 5`, "max_turns", `command = ["PROGRAM", "FLAG", "VALUE"]`, "-"},
		{`schema = { ok = bool }`, "schema", "output = object({ NAME = TYPE })", `output = object({ ok = bool })`},
		{`budget = "$5"`, "budget", "A step has it:  budget { cost_usd", "-"},
		{`description = "codes"`, "description", `soul = "codes"`, `soul = "codes"`},
		{`skills = ["go"]`, "skills", `capabilities = ["go"]`, `capabilities = ["go"]`},
		{`api_key = var.key`, "api_key", "key = var.key", ""},
		{`api_key = "sk-1"`, "api_key", `key_env = "NAME"`, ""},
	}},
}

// What newcomers write is refused with the words that lead to the right text, at the right place, and the right text is accepted.
func TestMistakes(t *testing.T) {
	program := func(in, text string) string {
		if text == "-" {
			text = ""
		}
		return strings.Replace(in, "@", text, 1)
	}
	count, bad := 0, 0
	for _, place := range mistakes {
		for _, m := range place.list {
			count++
			text := program(place.in, m.wrong)
			p, list := Check(memory(text), "w.hcl", Options{})
			if why := judgeMistake(m, list, p.Sources["w.hcl"]); why != "" {
				bad++
				t.Errorf("%s: %s\n%s", m.wrong, why, render(list, p.Sources))
			}
			if m.right == "" {
				continue
			}
			if _, list := Check(memory(program(place.in, m.right)), "w.hcl", Options{}); list.HasErrors() {
				bad++
				t.Errorf("%s: what it leads to is refused: %s\n%s", m.wrong, m.right, list[0].Detail)
			}
		}
	}
	t.Logf("%d mistakes, %d not led to the right text", count, bad)
}

// judgeMistake says what is missing in what is said about a mistake, or "".
func judgeMistake(m mistake, list diag.List, src []byte) string {
	if m.says == "" && m.at == "" {
		return ""
	}
	if len(list) == 0 {
		return "nothing is said"
	}
	d := list[0]
	said := d.Summary + "\n" + d.Detail
	for _, n := range d.Notes {
		said += "\n" + n.Text
	}
	for _, part := range strings.Split(m.says, " … ") {
		_, rest, ok := strings.Cut(said, part)
		if !ok {
			return "not said: " + part
		}
		said = rest
	}
	if at := string(src[d.Subject.Start.Byte:min(d.Subject.End.Byte, len(src))]); m.at != "" && at != m.at {
		return "the caret stands under " + at
	}
	if last := list[len(list)-1]; last.Severity == diag.Error && len(list) > 1 && last.Code != d.Code {
		return "more than one finding"
	}
	return ""
}
