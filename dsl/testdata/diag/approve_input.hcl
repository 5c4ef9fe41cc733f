variable "token" {
  type      = string
  sensitive = true
}

workflow "w" {
  step "a" {
    approve {
      prompt = "Ship ${var.token}?"
      input "day" {
        type      = string
        sensitive = true
      }
      input "day" {
        type    = number
        default = "x"
      }
      input "hour" {
        type = number
        validation {
          condition = "input.hour < step.b.output"
        }
        validation {
          condition = "string(input.hour) != var.token"
        }
      }
    }
  }
  step "b" { value = step.a.output.input.month }
  step "c" {
    value = "x"
    when  = "step.a.output.decision == 'yes'"
  }
}
