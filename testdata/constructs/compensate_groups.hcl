# Groups, waits and approvals that are undone: what ended or began last comes first. A group is undone if it has succeeded, before the
# nodes inside it.
workflow "saga" {
  sequence "trip" {
    step "flight" {
      run = ["say", "booked"]
      compensate { run = ["say", "cancel", "flight"] }
    }

    step "hotel" { run = ["say", "booked"] }
    compensate { run = ["say", "--", coalesce(step.hotel.output, "nothing")] }
  }

  step "ok" {
    approve {
      prompt  = "Go?"
      timeout = "50ms"
      default = "approve"
    }
    depends_on = [step.trip]
    compensate { run = ["say", "close", "ticket"] }
  }

  parallel "cars" {
    for_each   = ["small", "large"]
    depends_on = [step.ok]
    step "car" { run = ["say", each.value] }
    compensate { run = ["say", "return", each.value] }
  }

  step "pause" {
    wait { duration = "10ms" }
    depends_on = [step.cars]
    compensate { run = ["exit", "1"] }
  }

  sequence "half" {
    depends_on = [step.pause]
    step "fails" { run = ["exit", "1"] }
    compensate { run = ["say", "never"] }
  }
}
