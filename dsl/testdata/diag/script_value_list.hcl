workflow "w" {
  input "tags" { type = list(string) }
  input "note" {
    type    = string
    default = null
  }
  step "a" {
    run = "echo ${input.tags} ${input.note} ${input.nots}"
  }
}
