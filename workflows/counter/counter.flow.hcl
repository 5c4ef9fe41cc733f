# All runs of a store count with one counter. Each addition is atomic and is made once: none is lost, and none is made twice after a crash.

workflow "count" {
  input "events" {
    type    = list(string)
    default = ["login", "order", "login"]
  }

  step "add" {
    for_each = input.events
    kv { incr = "events" }
  }

  step "total" {
    kv { get = "events" }
    output     = number
    depends_on = [step.add]
  }

  output "total" { value = step.total.output }
}
