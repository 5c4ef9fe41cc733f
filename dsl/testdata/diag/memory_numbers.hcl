variable "n" {
  type    = number
  default = 5
}
memory {
  promote           = "succeded"
  consolidate_every = var.n
  short_term {
    tasks   = 5000
    max_age = "a week"
  }
  recall { budget = 0 }
  working { refresh = 60 }
}

agent "coder" {
  type    = "exec"
  command = ["coder"]
}

workflow "w" {
  step "a" {
    agent = agent.coder
    task  = "Do it."
  }
}
