variable "x" { type = string }
variable "tool" {
  type = string
  enum = ["sh", "bash"]
}
locals {
  cmd = ["sh", "-c", "echo ${var.x}"]
  own = ["./agent", "--mode", var.x]
}
agent "first" {
  type    = "exec"
  command = ["./agent"]
  env     = { NODE_OPTIONS = var.x }
}
agent "a1" {
  type    = "exec"
  command = local.cmd
}
agent "ok1" {
  type    = "exec"
  command = local.own
}
agent "a2" {
  type = "shell"
  run  = "cat | sh"
}
agent "a3" {
  type = "shell"
  shell = "bash"
  run  = "n=$FLOWRUN_TASK; echo $((n))"
}
agent "a4" {
  type = "shell"
  run  = "git log \"$FLOWRUN_TASK\""
}
agent "ok2" {
  type = "shell"
  run  = "git commit -m \"$FLOWRUN_TASK\""
}
agent "a5" {
  type    = "exec"
  command = [var.tool, "-c", var.x]
}
workflow "w" {
  env = { N = input.x, OK = input.x }
  shell = "bash"
  input "x" { type = string }
  input "d" { type = string }
  input "n" { type = number }
  input "l" { type = list(string) }
  step "b1" { run = split(" ", input.x) }
  step "b2" { run = slice(["sh", "-c", input.x], 0, 3) }
  step "b3" { run = "echo $((N))" }
  step "b4" {
    run = "bash"
    stdin = input.x
  }
  step "b5" {
    run = "echo hi"
    env = { PATH = "${input.d}:/usr/bin" }
  }
  step "b6" {
    run = "true"
    gate "g" { run = ["git", "log", input.x] }
  }
  step "b7" {
    run = "true"
    compensate { run = ["git", "log", input.x] }
  }
  step "b8" { run = [format("s%s", "h"), "-c", input.x] }
  step "b9" { run = try(input.l, ["x"]) }
  step "b10" { run = concat(["xargs"], input.l) }
  step "b11" { run = ["sh", input.n > 1 ? "-c" : "-e", input.x] }
  step "b12" { run = compact(["tar", "cf", "a.tar", input.n > 1 ? "-v" : "", input.x]) }
  step "b13" { run = ["./scripts/${input.x}.sh"] }
  step "b14" { run = [for w in ["sh", "-c", "x"] : w == "x" ? input.x : w] }
  step "b15" { run = concat(["echo"], [input.x])[0] == "echo" ? ["bash", "-c", input.x] : ["true"] }
  parallel "p" {
    env = { M = input.x }
    step "b16" { run = "[[ $M -gt 3 ]]" }
  }
  step "ok3" { run = "sleep ${input.n}; echo $((${input.n} + 1)); [[ ${input.n} -gt 3 ]]" }
  step "ok4" { run = ["git", "log", "-n", input.n, "--", input.x] }
  step "ok5" { run = concat(["./build.sh"], input.l) }
  step "ok6" { run = concat(["git", "add", "--"], input.l) }
  step "ok7" { run = "deploy-tool --title ${input.x}" }
  step "ok8" {
    run = "python3 own.py"
    stdin = input.x
  }
  step "ok9" { run = "echo \"$N\" \"$OK\" > out" }
  step "ok10" {
    for_each = ["linux", "darwin"]
    run = ["mk", each.value, "--", input.x]
  }
  step "ok11" { run = ["mail", "run-${run.id}", run.id] }
}
