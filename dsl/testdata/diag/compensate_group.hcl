# The compensation of a group reads the nodes inside it, but not those that exist once for each instance of a node, and not the group.
workflow "w" {
  sequence "g" {
    step "a" { run = ["true"] }

    step "b" {
      for_each = ["x", "y"]
      run      = ["true"]
    }

    parallel "c" {
      for_each = ["x", "y"]
      step "d" { run = ["true"] }
    }

    compensate {
      run = ["echo", step.a.status]
      env = { D = step.d.status, G = step.g.status }
    }
  }
}
