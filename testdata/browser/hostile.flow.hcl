# Texts that want to be code or to break a page, in all places where a run has texts: keys of instances, outputs, logs, errors, questions.
variable "texts" { type = map(string) }


workflow "hostile" {
  description = "</title><script>alert('description')</script>"

  input "text" {
    type    = string
    default = "<img src=x onerror=alert('input')>"
  }

  step "say" {
    for_each    = var.texts
    description = "<b onclick=alert('step')>"
    run         = "printf '%s\\n' \"${each.value}\"; printf '%s\\n' \"${each.value}\" >&2; exit 1"
    on_error    = "continue"
  }
  step "value" {
    for_each = var.texts
    value    = { text = each.value, list = [each.value], key = each.key }
  }
  step "stop" {
    for_each = var.texts
    on_error = "continue"
    fail { message = each.value }
  }
  step "ask" {
    for_each = var.texts
    approve {
      prompt = each.value
      show   = { text = each.value }
    }
  }
  output "all" { value = step.value.output }
}
