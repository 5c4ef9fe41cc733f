workflow "w" {
  step "ok" {
    approve {
      prompt     = "Ship?"
      approvers  = ["ann", "ann", ""]
      quorum     = 4
      rejections = 0
    }
  }
}
