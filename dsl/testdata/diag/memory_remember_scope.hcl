memory { groups = ["backend"] }

agent "coder" {
  type    = "exec"
  command = ["coder"]
}

workflow "w" {
  step "a" {
    remember {
      text  = "Tag first."
      scope = "everybody"
      agent = agent.codr
    }
  }
  step "b" {
    remember {
      text  = "Tag first."
      scope = "agent:codr"
    }
  }
  step "c" {
    recall {
      query  = 7 > 3 ? "x" : null
      k      = 500
      type   = "learning"
      agent  = true ? agent.coder : agent.coder
      groups = ["frontend"]
    }
  }
}
