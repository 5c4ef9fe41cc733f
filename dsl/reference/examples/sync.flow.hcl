workflow "w" {
  step "tests" {
    run      = ["make", "test"]
    on_error = "continue"
  }

  step "meet" {
    sync {
      point  = "release"
      needs  = ["site", "app"]
      as     = "site"
      ready  = step.tests.status == "succeeded"
      reason = "the tests of the site fail"
    }
  }
}
