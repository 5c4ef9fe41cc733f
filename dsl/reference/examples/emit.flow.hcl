workflow "w" {
  input "caller" { type = string }

  step "tell" {
    emit {
      event = "build.done"
      key   = input.caller
      run   = input.caller
    }
  }
}
