variable "tool" { type = string }

locals {
  head = ["git", "log"]
  text = "echo ${var.tool}"
}

agent "first" {
  type    = "exec"
  command = ["./agent"]
  env     = { LD_PRELOAD = var.tool }
}

agent "a" {
  type    = "exec"
  command = ["sh", "-c", local.text]
}

agent "b" {
  type    = "exec"
  command = ["bash"]
}

agent "c" {
  type    = "exec"
  command = [var.tool, "--json"]
}

workflow "w" {
  input "x" { type = string }
  input "all" { type = list(string) }
  input "fast" { type = bool }

  step "concat" { run = concat(local.head, [input.x]) }
  step "choice" { run = input.fast ? ["true"] : ["sh", "-c", input.x] }
  step "any" { run = input.all }
  step "many" { run = concat(["tar", "cf", "a.tar"], [for f in input.all : "${f}.txt"]) }
  step "stdin" {
    run   = ["python3", "-"]
    stdin = input.x
  }
  step "env" {
    run = ["git", "fetch"]
    env = { GIT_SSH_COMMAND = "ssh -i ${input.x}" }
  }
  step "number" {
    shell = "bash"
    env   = { N = input.x }
    run   = "if [[ $N -gt 3 ]]; then echo many; fi"
  }
  step "held" {
    shell = "bash"
    run   = "n=${input.x}; m=$n; echo $((m + 1))"
  }
  step "fine" {
    run = concat(local.head, input.fast ? ["-1"] : [], ["--"], input.all)
  }
}
