# A CI pipeline and the workflows share the facts of a deployment: its state, its version, and the time. CI writes the state, and a
# workflow waits until the version that it needs is deployed. A failed deployment ends the wait.
#
#   flowrun kv set state.shop '{"status": "deployed", "version": "1.4", "at": "2026-01-05T08:00:00Z"}' --namespace deployment
#   flowrun kv get state.shop --namespace deployment

agent "tester" {
  type    = "exec"
  command = ["./agents/tester"]
}

# What CI does where it has flowrun: it notes each state, and takes turns with other deployments of the same application.
workflow "deploy" {
  default = true
  concurrency { group = "deploy-${input.application}" }

  input "application" {
    type    = string
    default = "shop"
  }

  input "version" {
    type    = string
    default = "1.4"
  }

  step "begin" {
    call = workflow.note
    with = { application = input.application, version = input.version, status = "deploying" }
  }

  step "deploy" {
    run        = ["./agents/deploy", input.application, input.version]
    depends_on = [step.begin]
  }

  step "done" {
    call       = workflow.note
    with       = { application = input.application, version = input.version, status = "deployed" }
    depends_on = [step.deploy]
  }

  step "failed" {
    call         = workflow.note
    with         = { application = input.application, version = input.version, status = "failed" }
    depends_on   = [step.deploy]
    trigger_rule = "one_failed"
  }

  # Runs that wait for it continue at once.
  step "check" {
    call       = workflow.accept
    with       = { application = input.application, version = input.version }
    depends_on = [step.done]
  }
}

workflow "note" {
  input "application" { type = string }
  input "version" { type = string }

  input "status" {
    type = string
    enum = ["deploying", "deployed", "failed"]
  }

  step "state" {
    kv {
      set       = "state.${input.application}"
      namespace = "deployment"
      value     = { status = input.status, version = input.version, at = run.started_at }
    }
  }
}

# Waits until the version is deployed, looks each ten seconds, and tests what is there.
workflow "accept" {
  input "application" { type = string }
  input "version" { type = string }

  step "deployed" {
    kv {
      get       = "state.${input.application}"
      namespace = "deployment"
    }
    output = object({ status = string, version = string, at = string })

    repeat {
      until = "result.output != null && result.output.version == input.version && result.output.status in ['deployed', 'failed']"
      max   = 360
      delay = "10s"
    }
  }

  step "tested" {
    agent = agent.tester
    task  = "Test version ${input.version} of ${input.application}."
    with  = { deployed = step.deployed.output }

    require {
      condition = "step.deployed.output.status == 'deployed'"
      message   = "the deployment of ${input.version} has failed"
    }
  }
}
