package schema

// OtherTools are words of other tools that have a page of their own: flowrun explain WORD.
var OtherTools = []string{"access", "adaptive", "broadcast", "broker", "cache", "check", "delegate", "lock", "platform", "poll", "scale", "service", "session", "timer", "websocket"}

// Meant maps the words of other tools to what flowrun calls the same thing, with the text to write in its place.
var Meant = map[string]string{
	"needs": "depends_on = [step.NAME]", "need": "depends_on = [step.NAME]", "requires": "depends_on = [step.NAME]",
	"dependencies": "depends_on = [step.NAME]", "depends": "depends_on = [step.NAME]", "after": "depends_on = [step.NAME]", "deps": "depends_on = [step.NAME]",
	"if": "when = \"CONDITION\"", "condition": "when = \"CONDITION\"", "only_if": "when = \"CONDITION\"", "unless": "when = \"!(CONDITION)\"",
	"matrix": "for_each = [ … ]", "foreach": "for_each = [ … ]", "strategy": "for_each = [ … ]", "with_items": "for_each = [ … ]", "count": "for_each = range(N)",
	"retries": "retry { max_attempts = N }", "max_retries": "retry { max_attempts = N }", "attempts": "retry { max_attempts = N }", "max_attempts": "retry { max_attempts = N }",
	"continue-on-error": "on_error = \"continue\"", "continue_on_error": "on_error = \"continue\"", "allow_failure": "on_error = \"continue\"", "ignore_errors": "on_error = \"continue\"",
	"script": "run = \"…\"", "command": "run = [\"PROGRAM\", \"ARGUMENT\"]", "cmd": "run = [\"PROGRAM\", \"ARGUMENT\"]", "cmds": "run = \"…\"", "exec": "run = [\"PROGRAM\", \"ARGUMENT\"]", "shell_command": "run = \"…\"", "bash": "run = \"…\"",
	"timeout-minutes": "timeout = \"30m\"", "timeout_minutes": "timeout = \"30m\"", "timeout_seconds": "timeout = \"90s\"", "timeoutSeconds": "timeout = \"90s\"",
	"working-directory": "dir = \"FOLDER\"", "working_directory": "dir = \"FOLDER\"", "workdir": "dir = \"FOLDER\"", "cwd": "dir = \"FOLDER\"", "chdir": "dir = \"FOLDER\"",
	"envs": "env = { NAME = \"VALUE\" }", "variables": "env = { NAME = \"VALUE\" }",
	"prompt": "task = \"…\"", "inputs": "with = { NAME = VALUE }", "args": "run = [\"PROGRAM\", \"ARGUMENT\"]", "params": "with = { NAME = VALUE }",
	"concurrency": "max_concurrency = N", "parallelism": "max_concurrency = N", "max_parallel": "max_concurrency = N", "max-parallel": "max_concurrency = N",
	"name": "a label:  step \"NAME\" { … }", "id": "a label:  step \"NAME\" { … }", "required": "default = VALUE  for an optional value; a value without a default is required", "optional": "default = VALUE", "help": "description = \"…\"", "desc": "description = \"…\"", "sleep": "wait { duration = \"5s\" }",
	"delay": "base_delay = \"1s\"", "backoff": "multiplier = 2", "error_message": "message = \"…\"", "expect": "check = \"CONDITION\"", "assert": "check = \"CONDITION\"", "command_line": "run = [\"PROGRAM\"]",

	"while": "repeat { until = \"CONDITION\" … }", "until": "repeat { until = \"CONDITION\" … }", "loop_until": "repeat { until = \"CONDITION\" … }", "times": "repeat { max = N }",
	"on_failure": "compensate { run = … }  or a step with  when = \"step.NAME.status == 'failed'\"", "on-failure": "compensate { run = … }  or a step with  when = \"step.NAME.status == 'failed'\"", "fail_fast": "on_error = \"stop\"", "fail-fast": "on_error = \"stop\"",
	"catch": "a step with  when = \"step.NAME.status == 'failed'\"", "rescue": "a step with  when = \"step.NAME.status == 'failed'\"", "on_success": "a step that reads this step, or names it in depends_on",
	"cleanup": "finally { … }", "ensure": "finally { … }", "teardown": "finally { … }", "post": "finally { … }", "always": "finally { … }", "defer": "finally { … }", "on_exit": "finally { … }",
	"rollback": "compensate { run = … }", "undo": "compensate { run = … }", "working_dir": "dir = \"FOLDER\"", "initial_interval": "base_delay = \"1s\"", "interval": "base_delay = \"1s\"",
	"counter": "kv { incr = \"KEY\" }", "cache": "kv { get = \"KEY\" }  and  kv { set = \"KEY\" … ttl = \"1h\" }", "session": "kv { set = \"KEY\" … ttl = \"1h\" }", "state": "kv { get = \"KEY\" }",
	"timer": "wait { duration = \"1h\" }", "poll": "repeat { until = \"CONDITION\" … }", "lock": "concurrency { group = \"NAME\" }", "scale": "for_each = range(N)", "delegate": "agent = CONDITION ? agent.a : agent.b",
	"webhook": "on \"webhook.NAME\" { workflow = workflow.NAME secret = var.NAME }", "hook": "on \"webhook.NAME\" { workflow = workflow.NAME secret = var.NAME }", "triggers": "on \"NAME\" { workflow = workflow.NAME }",
	"broadcast": "emit { event = \"NAME\" }", "adaptive": "adapt { when = \"CONDITION\" max_concurrency = N }", "service": "a step that starts the service, and a step in finally that stops it",
	"queue": "loop \"NAME\" { source \"dispatch\" {} … }", "subscribe": "on \"EVENT\" { workflow = workflow.NAME }", "trigger": "on \"EVENT\" { workflow = workflow.NAME }", "mutex": "concurrency { group = \"NAME\" }",
	"semaphore": "quota \"NAME\" { capacity = N }", "throttle": "rate_limit { requests = N per = \"1m\" }", "approval": "approve { prompt = \"…\" }", "race": "compete \"NAME\" { … }", "saga": "compensate { run = … }",
	"select": "score = result.output.NAME", "on_tie": "tie_breaker = agent.NAME", "workers": "pool \"NAME\" { members = [ … ] }", "fan_out": "for_each = [ … ]",
	"terraform": "flowrun { … }", "resource": "step \"NAME\" { … }",

	"job": "sequence \"NAME\" { … }  with its steps, or one  step \"NAME\" { … }", "jobs": "a block for each step:  step \"NAME\" { … }", "task": "step \"NAME\" { … }", "tasks": "a block for each step:  step \"NAME\" { … }", "steps": "a block for each step:  step \"NAME\" { … }", "stage": "sequence \"NAME\" { … }", "stages": "sequence \"NAME\" { … }",
	"pipeline": "workflow \"NAME\" { … }", "workflows": "workflow \"NAME\" { … }", "flow": "workflow \"NAME\" { … }", "dag": "workflow \"NAME\" { … }", "local": "locals { NAME = VALUE }", "vars": "variable \"NAME\" { … }", "var": "variable \"NAME\" { … }",
	"group": "parallel \"NAME\" { … }", "outputs": "output \"NAME\" { value = … }", "agents": "agent \"NAME\" { … }", "check": "gate \"NAME\" { check = \"CONDITION\" }", "quality_gate": "gate \"NAME\" { check = \"CONDITION\" }", "params_block": "input \"NAME\" { … }", "parameter": "input \"NAME\" { … }",
}
