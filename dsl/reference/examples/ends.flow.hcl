workflow "w" {
  input "change" {
    type        = string
    description = "The files of the change."

    validation {
      condition = "input.change != ''"
      message   = "Name at least one file."
    }
  }

  step "skip" {
    when = "input.change == 'docs'"

    end {
      status  = "cancelled"
      message = "nothing to build"
    }
  }

  step "refuse" {
    when = "input.change contains '..'"

    fail {
      message = "a path leaves the folder"
      kind    = "fatal"
      reason  = "fail"
      group   = true
    }
  }
}
