# 20, cancel case: the whole run is ended early; all that is under way is withdrawn, and what must be done last is done.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "application" {
  step "examine" {
    agent = agent.worker
    with  = { takes = 60 }
  }

  step "withdrawn" {
    wait { duration = "2s" }
  }

  step "stop" {
    depends_on = [step.withdrawn]
    end {
      status  = "cancelled"
      message = "the applicant withdrew"
    }
  }

  finally {
    step "close-file" {
      agent = agent.worker
      with  = { takes = 1 }
    }
  }
}
