// Every way in which a program that was given a secret may let it out again, each in a step of its own.
variable "site" { type = string }

variable "marker" { type = string }

variable "secret" {
  type      = string
  sensitive = SENSITIVE
}

variable "nested" {
  type      = object({ list = list(object({ password = string })) })
  sensitive = SENSITIVE
}

variable "pem" {
  type      = string
  sensitive = SENSITIVE
}

memory {
  promote           = "succeeded"
  editor            = agent.editor
  consolidate_every = 2
  embedder { provider = "none" }
}

agent "editor" {
  type    = "exec"
  command = ["sh", "-c", <<-EOT
    cat >&2
    printf '{"type":"log","message":"%s"}\n' "$PASSWORD"
    printf '{"type":"result","output":{"text":"worded: %s","cites":[1]}}\n' "$PASSWORD"
  EOT
  ]
  env     = { PASSWORD = var.nested.list[0].password }
}

agent "remembers" {
  type    = "exec"
  command = ["sh", "-c", <<-EOT
    cat >/dev/null
    coded=$(printf 'x%s' "$PASSWORD" | base64)
    printf '{"type":"remember","kind":"decision","text":"the password is %s, or %s"}\n' "$PASSWORD" "$coded"
    printf '{"type":"result","output":"it was %s","learnings":[{"lesson":"use %s","context":"%s","tags":["%s"]}]}\n' "$PASSWORD" "$PASSWORD" "$coded" "$PASSWORD"
  EOT
  ]
  env     = { PASSWORD = var.nested.list[0].password }
}

channel "hook" {
  type    = "webhook"
  url     = "${var.site}/hook"
  secret  = var.secret
  headers = { Authorization = local.header }
}

channel "leak" {
  type    = "exec"
  command = ["sh", "-c", "cat >&2; echo $1 >&2; exit 1", "-", var.secret]
}

locals {
  header = "Bearer ${var.secret}"
}

agent "lines" {
  type    = "exec"
  command = ["sh", "-c", <<-EOT
    request=$(cat)
    printf '{"type":"progress","percent":10,"message":"%s"}\n' "$TOKEN"
    printf '{"type":"log","level":"info","message":"%s"}\n{"type":"junk %s\n%s\n' "$TOKEN" "$TOKEN" "$TOKEN"
    printf '%s\n' "$request" >&2
    printf '{"type":"result","output":{"request":%s,"%s":["%s"]}}\n' "$request" "$TOKEN" "$TOKEN"
  EOT
  ]
  env     = { TOKEN = var.secret }
  memory { trusted = true }
}

agent "refuses" {
  type    = "exec"
  command = ["sh", "-c", "cat >/dev/null; printf '{\"type\":\"error\",\"kind\":\"blocking\",\"message\":\"no entry for %s\"}\\n' \"$TOKEN\""]
  env     = { TOKEN = var.secret }
  memory { trusted = true }
}

agent "plain" {
  type          = "exec"
  command       = ["sh", "-c", "cat; cat <&0 >&2"]
  input         = "text"
  output_format = "text"
  memory { trusted = true }
}

agent "shell" {
  type = "shell"
  run  = "cat; printf '%s' \"$TOKEN\" >&2; exit 7"
  env  = { TOKEN = var.secret }
  memory { trusted = true }
}

agent "remote" {
  type    = "http"
  url     = "${var.site}/agent"
  headers = { authorization = local.header }
  memory { trusted = true }
}

agent "chat" {
  type     = "chat"
  provider = "openai"
  base_url = "${var.site}/v1"
  model    = "echo"
  key      = base64encode(var.secret)
  headers  = { x_token = var.nested.list[0].password }
  memory { trusted = true }
}

agent "tooled" {
  type     = "chat"
  provider = "openai"
  base_url = "${var.site}/v1"
  model    = "echo"
  key      = base64encode(var.secret)
  server "tools" {
    command = ["sh", "-c", "echo $TOKEN; echo $TOKEN >&2; exit 3", var.secret]
    env     = { TOKEN = var.secret }
    tools   = ["x"]
  }
  server "site" {
    url     = "${var.site}/mcp"
    headers = { x_token = var.nested.list[0].password }
    tools   = ["x"]
  }
}

gate "says_no" {
  run     = "echo rejected because of $TOKEN; echo $TOKEN >&2; exit 1"
  on_fail = "warn"
}

gate "message" {
  check   = "result.exit_code == 3"
  message = "it said ${try(result.stdout, "")} ${jsonencode(result.output)}"
  on_fail = "retry"
}

workflow "w" {
  default         = true
  max_concurrency = 4

  input "pin" {
    type      = string
    sensitive = SENSITIVE
  }

  step "argv" {
    run      = ["sh", "-c", "echo it is $1", "sh", var.secret]
    on_error = "continue"
  }
  step "notified" {
    notify {
      to   = [channel.hook, channel.leak]
      text = "it said ${try(step.argv.output, "nothing")}"
    }
    on_error = "continue"
  }

  step "not_found" {
    run      = ["/nowhere/program", "--", var.secret, input.pin]
    on_error = "continue"
  }
  step "script" {
    run      = "echo ${var.secret} ${local.header} ${input.pin}; echo ${var.nested.list[0].password} | base64; set -x; : ${var.secret}"
    on_error = "continue"
  }
  step "syntax" {
    run      = "cd ${var.secret}; exit $?"
    on_error = "continue"
  }
  step "env" {
    run      = "env; env >&2; exit 4"
    env      = { HEADER = local.header, PEM = var.pem }
    on_error = "continue"
  }
  step "stdin" {
    run   = "cat"
    stdin = "stdin ${input.pin}\n"
  }
  step "split" {
    run = "printf '%.9s' \"$V\"; sleep 0.05; printf '%s' \"$${V#?????????}\"; sleep 0.05; printf '%s' \"$V\" >&2; printf '%s' \"$V\" | cut -c 1-20 >/dev/null"
    env = { V = var.secret }
  }
  step "encoded" {
    run = "printf 'x%s' \"$V\" | base64 -w 0; printf 'xy%s' \"$V\" | base64; printf '%s' \"$V\" | base64 | tr '/+' '_-'; printf '%s' \"$V\" | sed 's/%/%25/g; s/ /%20/g; s,/,%2F,g; s/+/%2B/g; s/\"/%22/g; s/&/%26/g'; printf '%s' \"$V\" | sed 's/\"/\\\\\"/g'"
    env = { V = var.secret }
  }
  step "many" {
    run = "i=0; while [ $i -lt 3000 ]; do echo \"$i $V\"; echo \"$i $V\" >&2; i=$((i+1)); done"
    parse = "none"
    env = { V = var.secret }
  }
  step "json" {
    run   = "printf '{\"a\":{\"%s\":[\"x%sx\"]}}' ${var.nested.list[0].password} ${var.nested.list[0].password}"
    parse = "json"
  }
  step "bad_json" {
    run      = "printf '{%s' ${var.secret}"
    parse    = "json"
    on_error = "continue"
  }
  step "file" {
    run = "echo \"key=$V\" >>$FLOWRUN_OUTPUT"
    env = { V = var.secret }
  }
  step "bad_file" {
    run      = "echo \"$V\" >>$FLOWRUN_OUTPUT"
    env      = { V = var.secret }
    on_error = "continue"
  }
  step "type" {
    run      = "printf '[\"%s\"]' ${var.nested.list[0].password}"
    parse    = "json"
    output   = list(number)
    on_error = "continue"
  }
  step "each" {
    for_each = ["a", "b"]
    run      = "echo ${each.value} ${var.secret}; test ${each.value} = a"
    on_error = "continue"
  }
  step "again" {
    run = "echo ${var.secret}; exit 75"
    retry {
      max_attempts = 2
      base_delay   = "1ms"
    }
    on_error = "continue"
  }
  step "judged" {
    run   = "echo ${var.secret}"
    env   = { TOKEN = var.secret }
    gates = [gate.says_no]
  }
  step "feedback" {
    agent    = agent.lines
    task     = "use ${var.secret}"
    with     = { token = var.secret }
    gates    = [gate.message]
    retry { max_attempts = 2 }
    on_error = "continue"
  }
  step "chats" {
    agent    = agent.chat
    task     = "say ${var.secret}"
    with     = { token = var.secret }
    on_error = "continue"
  }
  step "uses_tools" {
    agent    = agent.tooled
    task     = "say ${var.secret}"
    on_error = "continue"
  }
  step "refused" {
    agent    = agent.refuses
    on_error = "continue"
  }
  step "refused_again" {
    agent    = agent.refuses
    task     = "find the entry"
    on_error = "continue"
  }
  step "remembers" {
    agent = agent.remembers
    task  = "log in with ${var.nested.list[0].password}"
  }
  step "keeps" {
    remember {
      lesson = "It was said: ${step.remembers.output}"
      tags   = split(" ", "login ${step.remembers.output}")
    }
  }
  step "finds" {
    recall { query = step.keeps.output.id != null ? step.remembers.output : "" }
  }
  step "text" {
    agent = agent.plain
    task  = "use ${input.pin} and ${var.secret}"
  }
  step "shell" {
    agent    = agent.shell
    task     = "use ${var.secret}"
    on_error = "continue"
  }
  step "told" {
    agent    = agent.remote
    task     = "use ${var.secret}"
    on_error = "continue"
  }
  step "asked" {
    http {
      url     = "${var.site}/items"
      query   = { key = var.secret }
      headers = { authorization = local.header }
    }
    on_error = "continue"
  }
  step "unreachable" {
    http {
      url   = "http://127.0.0.1:1/"
      query = { key = var.secret }
    }
    on_error = "continue"
  }
  step "bad_url" {
    http { url = "gopher://${var.secret}" }
    on_error = "continue"
  }
  step "child" {
    call     = workflow.child
    with     = { auth = "<${var.secret}>" }
    on_error = "continue"
  }
  step "slow" {
    run      = "echo ${var.secret}; exec sleep 20"
    timeout  = "200ms"
    on_error = "continue"
  }
  step "last" {
    run        = "echo ${var.secret}; echo ${var.secret} >&2; exit 9"
    depends_on = [step.argv]
    compensate { run = "echo undone with ${var.secret}; exit 1" }
  }
  step "says" {
    run      = "echo ${var.secret} >&2; exit 3"
    on_error = "continue"
  }
  step "interrupted" {
    run = "echo \"$V\"; echo \"$V\" >&2; test -e ${var.marker} || { echo >${var.marker}; exec sleep 20; }"
    env = { V = var.secret }

    depends_on = [step.not_found, step.says] # which has told something by then
  }
  step "goes_on" {
    http { url = "gopher://${var.secret}" }
    depends_on = [step.interrupted]
    on_error   = "continue"
  }
  finally {
    step "always" {
      run      = "echo finally ${var.secret}; exit 1"
      on_error = "continue"
    }
  }

  output "all" { value = step.each.output }
  output "file" { value = step.file.output }
}

workflow "child" {
  input "auth" {
    type      = string
    sensitive = SENSITIVE
  }
  step "inner" { run = "echo ${input.auth}; exit 3" }
}

agent "does_items" { type = "null" }

loop "items" {
  agents = [agent.does_items]
  source "dispatch" {}
  handle {
    workflow = workflow.of_item
    with     = { site = var.site }
  }
}

workflow "of_item" {
  input "site" { type = string }

  step "says" {
    run = "echo $PASSWORD; exit 1"
    env = { PASSWORD = var.secret }
  }
}
