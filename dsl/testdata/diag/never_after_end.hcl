workflow "w" {
  sequence "s" {
    step "done" {
      end { message = "that was all" }
    }
    step "a" { run = ["true"] }
  }
}
