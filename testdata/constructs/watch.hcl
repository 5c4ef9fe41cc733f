# A change of a watched file starts one run. In a test it is an event like any other; the daemon finds the changes of real files.
workflow "work" {
  default = true
  step "a" { value = 1 }
}

on "file.inbox" {
  workflow = workflow.load
  paths    = ["inbox/**/*.csv"]
  debounce = "5s"
  when     = "event.change != 'removed'"
  with     = { path = event.path, bytes = event.size }
}

workflow "load" {
  input "path" { type = string }
  input "bytes" { type = number }
  step "load" { value = "${input.path}: ${input.bytes}" }
  output "loaded" { value = step.load.output }
}
