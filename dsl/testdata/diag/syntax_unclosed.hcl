workflow "ci" {
  parallel "all" {
    step "build" {
      run = ["make", "build"]

    step "test" {
      run = ["make", "test"]
    }
  }
}
