workflow "w" {
  step "a" {
    approve { approvers = "ann" }
  }
}
