# A sync point: each party waits until all needed parties are ready, and one of them does what must happen once.
workflow "release" {
  parallel "teams" {
    sequence "api" {
      step "api_ready" {
        sync {
          point = "release-${run.id}"
          as    = "api"
          needs = ["api", "ui"]
        }
      }

      step "api_publishes" {
        value = "api"
        when  = "step.api_ready.output.last"
      }
    }

    sequence "ui" {
      step "ui_blocked" {
        sync {
          point   = "release-${run.id}"
          as      = "ui"
          needs   = ["ui", "api"]
          ready   = false
          reason  = "a test fails"
          timeout = "500ms"
        }
        on_error = "continue"
      }

      step "ui_ready" {
        sync {
          point = "release-${run.id}"
          as    = "ui"
          needs = ["api", "ui"]
        }
      }

      step "ui_publishes" {
        value = "ui"
        when  = "step.ui_ready.output.last"
      }
    }

    step "other_needs" {
      sync {
        point = "release-${run.id}"
        as    = "docs"
        needs = ["api", "docs"]
      }
      on_error   = "continue"
      depends_on = [step.api_ready]
    }
  }

  output "publishes" { value = [for team in [step.api_publishes.output, step.ui_publishes.output] : team if team != null] }
  output "checked_in" { value = step.api_ready.output.checked_in }
  output "blocked" { value = step.ui_blocked.error.reason }
  output "refused" { value = [step.other_needs.error.kind, step.other_needs.error.reason] }
}
