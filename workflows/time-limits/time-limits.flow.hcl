# Three agents work at once, each with its own time limit. At its limit, an agent hands in its work so far, or its default counts;
# the others continue, and the run continues with three results.

agent "worker" {
  type    = "exec"
  command = ["./agents/worker"]
}

workflow "limits" {
  parallel "work" {
    step "text" {
      agent      = agent.worker
      task       = "Write the text."
      output     = object({ result = string })
      timeout    = "20m"
      on_timeout = "hand_in"
      degrade { output = { result = "no text yet" } }
    }

    step "images" {
      agent      = agent.worker
      task       = "Draw the images."
      output     = object({ result = string })
      timeout    = "5m"
      on_timeout = "hand_in"
      degrade { output = { result = "no images" } }
    }

    step "links" {
      agent      = agent.worker
      task       = "Check the links."
      output     = object({ result = string })
      timeout    = "10m"
      on_timeout = "hand_in"
      degrade { output = { result = "links not checked" } }
    }
  }

  output "results" { value = [for name, part in step.work.output : part.result] }
}
