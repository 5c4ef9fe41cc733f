workflow "w" {
  input "x" { type = bool }
  step "a" {
    run = "cargo build %{ if input.x }-v%{ endif }"
  }
}
