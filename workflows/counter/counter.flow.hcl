# All runs of a store share one counter. Each addition is atomic and happens once: a crash loses no addition and repeats none.

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
