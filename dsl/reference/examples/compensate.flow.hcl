workflow "deploy" {
  concurrency {
    group     = "deploy"
    when_busy = "skip"
  }

  step "deploy" {
    run = ["./deploy"]

    compensate {
      run     = ["./rollback"]
      timeout = "5m"
    }
  }

  step "check" {
    depends_on = [step.deploy]
    run        = ["./check"]
  }

  finally {
    timeout = "2m"

    step "tidy" { run = ["rm", "-rf", "out"] }
  }
}
