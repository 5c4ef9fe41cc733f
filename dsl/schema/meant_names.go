package schema

import (
	"fmt"
	"strings"
)

// Absent maps the words of other tools that have no counterpart to what a file does instead, in a sentence or two. @ stands
// for the text that the file gives it.
var Absent = map[string]string{
	"uses":              "flowrun has no actions. Run the command of the action with  run = [\"git\", \"pull\"]  or call a workflow with  call = workflow.NAME.",
	"on":                "flowrun does not watch a repository. Call  flowrun apply  from CI, or write at the top of the file  routine \"NAME\" { … }  for a schedule, or  on \"EVENT\" { … }  for an event or a webhook.",
	"runs-on":           "Steps run on this machine, so leave it out. To use another machine, start the command there:  run = [\"ssh\", \"HOST\", \"COMMAND\"].",
	"container":         "Steps run on this machine. Start the container in the command:  run = [\"docker\", \"run\", \"--rm\", @, \"COMMAND\"].",
	"services":          "Steps run on this machine. Start the service in a step with  run = [\"docker\", \"run\", \"-d\", \"IMAGE\"]  and stop it in  finally.",
	"artifacts":         "Steps run on this machine, in one folder, and files stay there: later steps and later runs can read them. A small result is the output of its step.",
	"defaults":          "A workflow sets shell, dir and env for all of its steps:  shell = \"bash\".",
	"version":           "A file has no version, so leave it out.",
	"tags":              "flowrun has no tags. Write a description:  description = \"…\".",
	"permissions":       "A step has the rights of the user who starts flowrun, so leave it out.",
	"secrets":           "A script reads an environment variable that  pass_env = [@]  names. As a value, declare  variable \"NAME\" { type = string sensitive = true }  and read  var.NAME.",
	"on_rate_limit":     "A step that gets status 429 waits by itself until the moment that the service names, so leave it out.",
	"dlq":               "A run that fails becomes a dead letter by itself, so leave it out. flowrun dlq list shows the dead letters.",
	"dead_letter":       "A run that fails becomes a dead letter by itself, so leave it out. flowrun dlq list shows the dead letters.",
	"dead_letter_queue": "A run that fails becomes a dead letter by itself, so leave it out. flowrun dlq list shows the dead letters.",
	"goto":              "A node does not jump to another one. A  sequence  with  repeat { max = 3 }  runs its nodes again until the condition in  until  is true.",
	"environment":       "flowrun has no deployment environments. A step with  approve { prompt = \"…\" }  waits for a person; environment variables of programs are  env = { NAME = \"VALUE\" }.",
	"lifecycle":         "flowrun keeps no state of the resources that steps create, so leave it out.",
	"provider":          "flowrun has no providers. A step runs the tool itself:  run = [\"aws\", \"s3\", \"ls\"].",
	"provisioner":       "A step runs a command by itself:  run = \"COMMAND\".",
	"dynamic":           "Blocks are not generated. A node with  for_each = [ … ]  runs once for each member, which it reads as  each.value.",
	"data":              "A step reads data from outside with  run = \"…\"  or  http { url = \"…\" }  and other steps read  step.NAME.output.",
	"nullable":          "A variable can be null if it has  default = null. Without a default, a value must be given.",
	"import":            "The files of a folder are one program, so nothing is included: put the file into the same folder.",
	"model":             "Give the model to the program of the agent:  agent \"NAME\" { command = [\"PROGRAM\", \"--model\", @] }.",
	"tools":             "The program of the agent decides which tools it uses. Give its flags in  command = [\"PROGRAM\", \"FLAG\", \"VALUE\"]. An agent of type chat has temperature, max_turns and server blocks.",
	"query":             "A running workflow needs no queries: show its state with  flowrun runs show RUN.",
	"activity":          "An activity is a step:  step \"NAME\" { run = … }. flowrun runs it again after a crash if its result is not recorded.",
	"signal":            "A step with  wait { event = \"NAME\" }  waits for an event. Send it with  flowrun emit NAME.",
	"continue_as_new":   "A run keeps its events in its journal, so leave it out. For work without an end, write a  routine  or a  loop  block: each of its runs ends.",
	"heartbeat_timeout": "An agent has a heartbeat:  agent \"NAME\" { heartbeat = @ }. A step with  run  has  timeout.",
	"claude":            "An agent has a preset for this program:  agent \"NAME\" { preset = \"claude\" }.",
	"codex":             "An agent has a preset for this program:  agent \"NAME\" { preset = \"codex\" }.",
	"human":             "A step with  approve { … }  waits for a person's decision. An agent with  type = \"human\"  is a person who does tasks.",
	"GITHUB_OUTPUT":     "A script writes the output of its step to the file $FLOWRUN_OUTPUT:  flowrun explain FLOWRUN_OUTPUT.",
	"workflow_dispatch": "Every workflow can be started by hand, and no block is needed:  flowrun apply FILE WORKFLOW --input NAME=VALUE.",
	"continue-as-new":   "A run keeps its events in its journal and needs no successor; on Temporal, flowrun continues as new automatically. For work without an end, write a  loop  or a  routine.",
	"taint":             "To run a step of an earlier run again, with all steps that depend on it:  flowrun retry RUN --from STEP.",
	"idempotent":        "A step can run twice if its process was killed. $FLOWRUN_IDEMPOTENCY_KEY is the same both times, so a receiver can refuse the second request.",
	"idempotency":       "A step can run twice if its process was killed. $FLOWRUN_IDEMPOTENCY_KEY is the same both times, so a receiver can refuse the second request.",
	"retry_policy":      "In flowrun, write  retry { max_attempts = 3 }. It can have base_delay, multiplier and max_delay, too.",
	"module":            "A step calls another workflow of the program:  call = workflow.NAME  with its inputs in  with = { … }. The outputs are  step.NAME.output.",
}

func init() {
	for word, of := range map[string]string{ // any order: it fills a table
		"runs_on": "runs-on", "runner": "runs-on", "agent_pool": "runs-on", "image": "container", "docker": "container", "cache": "artifacts", "caches": "artifacts",
		"artifact": "artifacts", "upload": "artifacts", "download": "artifacts", "jump": "goto", "next": "goto", "providers": "provider", "backend": "provider", "provisioners": "provisioner",
		"include": "import", "includes": "import", "secret": "secrets", "moved": "lifecycle", "events": "on", "schedule": "on", "modules": "module", "child_workflow": "module", "subworkflow": "module", "child": "module",
		"idempotency_key": "idempotency", "task_queue": "runs-on", "temperature": "tools", "mcp_servers": "tools", "allowed_tools": "tools", "sandbox": "tools", "stream": "tools", "max_turns": "tools", "approval_mode": "tools",
	} {
		Absent[word] = Absent[of]
	}
}

// OtherName says what stands in flowrun for a name of another tool, such as secrets.TOKEN, given its parts; "" for a name that no
// other tool has.
func OtherName(path []string) string {
	at := func(i int) string {
		if i < len(path) {
			return path[i]
		}
		return "NAME"
	}
	switch path[0] {
	case "secrets", "secret":
		return secretName(at(1))
	case "github", "gitlab", "ci":
		return ciName(path)
	case "env", "environ", "process":
		name := path[len(path)-1]
		return fmt.Sprintf("A script reads the variable of the environment itself:  $%s. As a value, declare  variable %q { type = string }, give it with --var or FLOWRUN_VAR_%s, and read  var.%s.", name, name, name, name)
	case "needs", "steps", "jobs", "tasks", "outputs", "dependencies":
		return resultName(path, at)
	case "inputs", "params", "parameters", "args":
		return fmt.Sprintf("Write  input.%s. The workflow declares it:  input %q { type = string }.", at(1), at(1))
	case "vars", "variables":
		return fmt.Sprintf("Write  var.%s. The file declares it:  variable %q { type = string }.", at(1), at(1))
	case "locals":
		return fmt.Sprintf("Write  local.%s.", at(1))
	case "self":
		if at(1) == "value" {
			return OtherName([]string{"matrix"})
		}
		return "A gate reads the result of its node as  result.output; other nodes read  step.NAME.output."
	case "stdout", "stderr", "exit_code":
		return fmt.Sprintf("A gate, and a rule about a failure, read  result.%[1]s; other nodes read  step.NAME.%[1]s.", path[0])
	case "matrix", "foreach":
		return "A matrix is  for_each = [ … ]  on the step, and its member is  each.value."
	case "strategy", "count", "loop":
		return "A step with  for_each = [ … ]  or  for_each = range(N)  reads the number of its instance, from 0, as  each.key, and its member as  each.value."
	case "runner", "job":
		return "Steps run on this machine. A script asks it:  uname -s. The run is  run.id  and  run.workflow."
	case "path":
		return "Paths begin in the folder of the program, which is the current folder of a script. file(\"NAME\") reads a file there."
	case "terraform":
		return "There are no workspaces. Declare  input \"environment\" { type = string }  in the workflow and read  input.environment."
	case "module":
		return fmt.Sprintf("A step calls another workflow,  call = workflow.%s. Its outputs are  step.NAME.output.%s.", at(1), at(2))
	case "data", "resource":
		return "A step reads from outside, with  run  or  http { … }. Its result is  step.NAME.output."
	}
	return ""
}

func secretName(name string) string {
	return fmt.Sprintf("Declare  variable %q  with  sensitive = true  and read  var.%s; or pass the variable of the environment on with  pass_env = [%q]  and read  $%s  in the script.", name, name, name, name)
}

// ciName is about the context of a CI system. Its variables reach scripts.
func ciName(path []string) string {
	name := path[len(path)-1]
	if len(path) == 1 {
		name = "ref"
	}
	if name == "token" {
		return secretName(strings.ToUpper(path[0]) + "_TOKEN")
	}
	if len(path) > 2 {
		return fmt.Sprintf("flowrun does not read the context of CI. Declare  input %q { type = string }, read  input.%s, and give it when CI calls flowrun:  --input %s=VALUE.", name, name, name)
	}
	variable := "GITHUB_" + strings.ToUpper(name)
	if path[0] != "github" {
		variable = "CI_" + strings.ToUpper(name)
	}
	return fmt.Sprintf("flowrun does not read the context of CI. Declare  input %q { type = string }, read  input.%s, and give it when CI calls flowrun:  --input %s=\"$%s\". A script reads  $%s  by itself.", name, name, name, variable, variable)
}

// resultName is about what another node has made.
func resultName(path []string, at func(int) string) string {
	attr := "output"
	switch at(2) {
	case "result", "outcome", "conclusion", "status":
		attr = "status"
	case "output", "outputs":
		if len(path) > 3 {
			attr = "output." + path[3]
		}
	default:
		if len(path) > 2 {
			attr = "output." + path[2]
		}
	}
	return fmt.Sprintf("Write  step.%s.%s.", at(1), attr)
}
