# What must hold before a node starts, with a word where it does not.
workflow "guarded" {
  input "env" {
    type    = string
    default = "prod"
  }

  step "deploy" {
    run = ["say", "deployed"]
    require {
      condition = "input.env == 'dev'"
      message   = "${input.env} is not for the likes of us"
    }
  }
}
