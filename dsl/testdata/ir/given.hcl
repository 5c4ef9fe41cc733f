# What is given from outside, and what is read with the program.
flowrun {
  required_version = ">= 0.1, != 0.0.9"
  engine           = "local"
}
variable "token" {
  type      = string
  sensitive = true
}
variable "level" {
  type    = string
  enum    = ["low", "high"]
  default = "low"
}
variable "motto" {
  type    = string
  default = file("texts/motto.md")
}
locals {
  bearer = "Bearer ${var.token}"
  prompt = "${file("texts/prompt.md")} Level: ${var.level}"
}
agent "null" { type = "null" }
gate "shape" { schema = file("texts/schema.json") }
workflow "given" {
  concurrency {
    group     = "deploy-${input.env}-${var.level}"
    when_busy = "cancel_previous"
  }
  input "env" {
    type = string
    enum = ["test", "live"]
    validation {
      condition = "input.env != 'live' || var.level == 'high'"
      message   = "live needs a high level, not ${var.level}"
    }
    validation { condition = "len(input.env) == 4" }
  }
  step "push" {
    run   = "push --to ${input.env} --as ${var.token}"
    stdin = local.bearer
    env   = { TOKEN = var.token }
  }
  step "ask" {
    agent = agent.null
    task  = local.prompt
    with  = { motto = file("texts/motto.md"), env = input.env }
    gates = [gate.shape]
  }
}
