workflow "w" {
  step "a" {
    run = "true"
    catch { run = "false" }
  }
}
