on "order.paid" {
  workflow = workflow.w
  paths    = ["a"]
}

on "file.*" {
  workflow = workflow.w
  paths    = ["a"]
}

on "file.none" { workflow = workflow.w }

on "file.empty" {
  workflow = workflow.w
  paths    = []
}

on "file.bad" {
  workflow = workflow.w
  paths    = ["in/[", ""]
  data     = string
}

on "file.both" {
  workflow = workflow.w
  paths    = ["a"]
}

on "file.both" {
  workflow = workflow.v
  paths    = ["b"]
}

on "file.types" {
  workflow = workflow.w
  paths    = ["in/**"]
  when     = "event.size > 'x' && event.name == '' && event.change == 'moved'"
}

workflow "w" {
  step "a" { run = ["true"] }
}

workflow "v" {
  step "a" { run = ["true"] }
}
