# The first figure of a benchmark is its baseline. A figure that is too far above it does not pass.
workflow "measured" {
  step "first" {
    value = "code"
    gate "speed" {
      benchmark {
        run            = ["say", "ops=100"]
        samples        = 3
        metric         = "ops"
        baseline       = "parser"
        max_regression = "10%"
      }
    }
  }

  step "close" {
    depends_on = [step.first]
    value      = "code"
    gate "speed" {
      benchmark {
        run      = ["say", "ops=110"]
        samples  = 2
        metric   = "ops"
        baseline = "parser"
      }
    }
  }

  step "slow" {
    depends_on = [step.first]
    on_error   = "continue"
    value      = "code"
    gate "speed" {
      benchmark {
        run      = ["say", "ops=130"]
        samples  = 1
        metric   = "ops"
        baseline = "parser"
      }
    }
  }

  step "silent" {
    depends_on = [step.first]
    on_error   = "continue"
    value      = "code"
    gate "speed" {
      benchmark {
        run      = ["say", "fast"]
        samples  = 1
        metric   = "ops"
        baseline = "parser"
      }
    }
  }
}
