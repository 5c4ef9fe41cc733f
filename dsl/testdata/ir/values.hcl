variable "min" {
  type    = number
  default = 80
}
locals {
  a = local.b + 1
  b = var.min
}
agent "a" {
  type    = "exec"
  command = ["claude", "-p", var.min]
  retry {
    max_attempts = 3
    when         = "error.kind == 'transient'"
  }
}
gate "cov" {
  check   = "result.output >= var.min"
  message = "coverage is ${result.output}"
}
workflow "b" {
  input "tags" {
    type    = list(string)
    default = []
  }
  step "s0" {
    run   = ["/bin/true"]
    gates = [gate.cov]
    parse = "json"
  }
  step "s1" {
    run        = ["echo", step.s0.output, "n ${local.a}"]
    depends_on = [step.s0]
    when       = "step.s0.exit_code == 0 && len(input.tags) >= 3"
    env        = { PORT = 8080, T = "${attempt}" }
  }
  parallel "fan" {
    for_each = input.tags
    step "x" {
      run = ["echo", each.value, each.key]
    }
  }
  sequence "q" {
    step "x1" {
      agent = agent.a
      with  = { a = 1 }
      task  = "do it"
    }
    parallel "p" {
      step "y" { value = 3 }
      step "z" { value = step.y.output + 1 }
    }
    step "after" {
      run = <<-EOT
        echo hi
        echo there
      EOT
      when = "previous.output.y == 3"
    }
  }
  output "o" { value = step.z.output }
  output "f" { value = step.fan.output }
}
