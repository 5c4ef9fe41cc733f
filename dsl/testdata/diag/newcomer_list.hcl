workflow "ci" {
  steps = [
    {
      name       = "build"
      run        = "make build"
      depends_on = "setup"
    },
  ]
}
