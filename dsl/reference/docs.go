package reference

// What the objects hold that expressions can read. A test says when an attribute has no sentence.
var (
	rootDocs = map[string]string{
		"var":       "A variable: var.NAME, from --var, --var-file, FLOWRUN_VAR_NAME or its default.",
		"local":     "A local: local.NAME.",
		"input":     "An input of the run: input.NAME.",
		"step":      "The result of a node, whatever its kind: step.NAME. Whoever reads its output waits for its success, whoever reads its status for its end.",
		"each":      "The member that an instance of a for_each stands for: each.key and each.value; the key of a list is its index from 0.",
		"run":       "The run itself: run.id, run.workflow, run.started_at.",
		"attempt":   "Which attempt of the node this is, from 1.",
		"iteration": "Which iteration of the repeat around it this is, from 1.",
		"previous":  "The result of the sibling before in a sequence; null at the first.",
		"last":      "The iteration before of the repeat around it: last.step.NAME; null in the first.",
		"result":    "What is being judged: the node's own result.",
		"error":     "What ended the attempt before, or null.",
		"feedback":  "What gates have said of the attempt before, else the attribute feedback of the step, or null.",
		"recalled":  "What the memory gave the attempt of an agent; nothing of it where there is no memory.",
	}
	resultDocs = map[string]string{
		"output":      "What the node made; what it is depends on its kind. Null where it was skipped.",
		"status":      "How far it is, or how it ended.",
		"exit_code":   "Exit code of its program; -1 where there is none.",
		"stdout":      "What its program wrote, without line ends behind it; cut in the middle beyond 64 KiB.",
		"stderr":      "What its program wrote to standard error, cut likewise.",
		"error":       "What ended it, if it failed.",
		"attempts":    "How many attempts it made.",
		"duration":    "Seconds from its first start to its end.",
		"started_at":  "When it first started, in RFC 3339.",
		"finished_at": "When it ended, in RFC 3339.",
		"agent":       "The agent that carried it out.",
		"instances":   "The whole results of its instances, by position or by key, where it has a for_each.",
		"counts":      "How many instances there were in total, and how many succeeded, failed and were skipped.",
		"winner":      "Who won, where a join picks one of several or the group says it: winner = EXPRESSION.",
		"iterations":  "How many rounds a repeat made.",
		"partial":     "Whether the output was handed in when the time was up: on_timeout = \"hand_in\".",
		"usage":       "What it used so far: attempts (that ended, those of its gates, too), input_tokens, output_tokens, tokens and cost_usd, as agents report them; of a group the sum, of a call that of the run.",
	}
	errorDocs = map[string]string{
		"kind":        "transient, rate_limited, recoverable, blocking or fatal; the last two are not retried by default.",
		"reason":      "A word for the cause, such as timeout, limit or output_too_large.",
		"message":     "What went wrong, in words.",
		"status":      "Status of an HTTP response.",
		"exit_code":   "Exit code of a program; -1 where there is none.",
		"signal":      "The signal that ended a program.",
		"gate":        "The gate that did not pass.",
		"node":        "The node that failed.",
		"attempt":     "Which attempt it was, from 1.",
		"retry_after": "Seconds to wait, where the other side said so.",
	}
	recalledDocs = map[string]string{
		"count": "How many entries were recalled.",
		"ids":   "Their ids, in the order in which the agent was given them.",
		"items": "Of each its id, type, tags and score.",
	}
	runDocs = map[string]string{
		"id":         "Id of the run: 12 characters.",
		"workflow":   "Name of the workflow.",
		"started_at": "When it started, in RFC 3339.",
		"status":     "How it ended; known in outputs of the workflow, in compensate and in finally.",
		"failed":     "Names of the nodes that failed; known likewise.",
		"usage":      "What the run used so far, with the runs that it called: attempts, input_tokens, output_tokens, tokens and cost_usd.",
		"error":      "The first error; known likewise.",
	}
	testDocs = map[string]string{
		"run":         "The run: also its outputs, and its warnings, a list of texts.",
		"step":        "The result of a node of the workflow, whatever its kind: step.NAME. That of a node in a repeat is of the last iteration.",
		"node":        "The result of a node by its path: node[\"review/check\"], node[\"each[1]\"], node[\"call/inner\"] of a called run.",
		"input":       "An input of the run: input.NAME.",
		"calls":       "What was asked of an agent, step or gate, in order: calls.NAME.",
		"max_at_once": "How many attempts of an agent, step or gate, or runs of a workflow, there were at once at most: max_at_once.NAME.",
		"path":        "The paths of the nodes that started, in order of their starts.",
		"before":      "before('A', 'B') tells whether node A ended before node B started.",
		"kv":          "What the store holds under a key: kv[\"NAMESPACE/KEY\"], or kv[\"KEY\"] of the namespace default; null where there is nothing.",
		"elapsed":     "Seconds of virtual time since the start.",
		"live":        "How many attempts are live.",
	}
	callDocs = map[string]string{
		"at":       "When it was asked, in seconds since the start.",
		"ended":    "When it ended, likewise; null if it had not.",
		"node":     "Path of the node.",
		"key":      "The idempotency key: the same where an attempt starts again after a crash.",
		"task":     "The task of an agent.",
		"with":     "The input of an agent.",
		"feedback": "What gates have said of the attempt before.",
		"attempt":  "Which attempt of the node it is, from 1.",
		"agent":    "The agent.",
		"command":  "The program and its arguments.",
		"script":   "The script.",
		"stdin":    "What the program reads on standard input.",
		"env":      "The environment that the file adds.",
		"url":      "The address of a request.",
		"method":   "The method of a request.",
		"body":     "The body of a request.",
	}
	requestDocs = map[string]string{
		"task":      "The task of an agent, or null.",
		"with":      "The input of an agent, or null.",
		"feedback":  "What gates have said of the attempt before, or null.",
		"attempt":   "Which attempt of the node it is, from 1.",
		"iteration": "Which iteration of the repeat around the node it is, from 1, or null.",
		"agent":     "The agent, or null.",
		"inputs":    "The inputs of the run.",
	}
)
